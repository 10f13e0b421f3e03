//! Fair leases (W17): endpoints take turns, one due delivery a turn.

use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use rusqlite::{Row, Transaction};
use webhook_core::event::EventId;
use webhook_core::sender::{
    Delivery, DeliveryId, DeliveryState, FailureReason, Lease, LeaseRequest, Leased, Leases, SetAside,
    Standing, StoredEvent,
};

use super::{delivery, instance};
use crate::column::{Term, Time, limit};
use crate::database::{DatabaseError, DatabaseErrorKind};

/// The statements for rows of one index and condition.
macro_rules! kind {
    ($index:literal, $condition:literal) => {
        Kind {
            lanes: concat!(
                "SELECT endpoint, standing, room FROM (
                     SELECT endpoint, standing, room, last_turn,
                            row_number() OVER (PARTITION BY standing ORDER BY last_turn, endpoint) AS place
                     FROM (
                         SELECT endpoint, standing, last_turn,
                                min(concurrency, coalesce(rate, concurrency),
                                    CASE standing WHEN 'answering' THEN ?2 ELSE ?3 END) - (
                                    SELECT count(*) FROM webhook_delivery AS held INDEXED BY webhook_delivery_leased
                                    WHERE held.endpoint = lane.endpoint AND held.state = 'leased' AND held.due_at > ?1
                                ) AS room
                         FROM webhook_lane AS lane
                         WHERE (held_until IS NULL OR held_until <= ?1)
                           AND EXISTS (
                               SELECT 1 FROM webhook_delivery AS due INDEXED BY ",
                $index,
                "              WHERE due.endpoint = lane.endpoint AND due.due_at <= ?1 AND ",
                $condition,
                "          )
                     )
                     WHERE room > 0
                 )
                 WHERE place <= CASE standing WHEN 'answering' THEN ?4 WHEN 'silent' THEN ?6 ELSE ?5 END
                 ORDER BY last_turn, endpoint"
            ),
            due: concat!(
                "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner
                 FROM webhook_delivery INDEXED BY ",
                $index,
                " WHERE endpoint = ?1 AND due_at <= ?2 AND ",
                $condition,
                " ORDER BY due_at, event LIMIT ?3"
            ),
        }
    };
}

/// An endpoint that has a turn.
struct Lane {
    endpoint: String,
    standing: Standing,
    due: VecDeque<Delivery>,
}

/// Leases suspects first, as many as their limit allows, then other deliveries.
pub(super) fn lease(transaction: &Transaction<'_>, request: &LeaseRequest) -> Result<Leases, DatabaseError> {
    let mut leases = Leases::default();
    if let Some(owner) = request.owner
        && !instance::exists(transaction, owner)?
    {
        return Ok(leases);
    }
    let mut request = *request;
    let suspects = request.limit.min(request.suspects);
    lease_those(transaction, &mut request, (SUSPECTS, suspects), &mut leases)?;
    let limit = request.limit;
    lease_those(transaction, &mut request, (OTHERS, limit), &mut leases)?;
    Ok(leases)
}

/// Unreadable deliveries take no slot: after they are set aside the search is repeated.
fn lease_those(
    transaction: &Transaction<'_>,
    request: &mut LeaseRequest,
    (kind, limit): (Kind, usize),
    leases: &mut Leases,
) -> Result<(), DatabaseError> {
    loop {
        let rest = LeaseRequest {
            limit: limit.saturating_sub(leases.leased.len()),
            ..*request
        };
        let more = look(transaction, &rest, kind)?;
        for leased in &more.leased {
            request.bulkheads.take(leased.standing);
        }
        let is_clean = more.set_aside.is_empty();
        leases.leased.extend(more.leased);
        leases.set_aside.extend(more.set_aside);
        if is_clean {
            return Ok(());
        }
    }
}

/// Selects live rows of a lane by kind: see `Delivery::becomes_suspect`.
#[derive(Clone, Copy)]
struct Kind {
    lanes: &'static str,
    due: &'static str,
}

const SUSPECTS: Kind = kind!("webhook_delivery_suspect", "state = 'leased' AND crashes > 0");
const OTHERS: Kind = kind!(
    "webhook_delivery_live",
    "state IN ('ready', 'retry_scheduled', 'leased') AND NOT (state = 'leased' AND crashes > 0)"
);

fn look(transaction: &Transaction<'_>, request: &LeaseRequest, kind: Kind) -> Result<Leases, DatabaseError> {
    if request.limit == 0 {
        return Ok(Leases::default());
    }
    let mut set_aside = Vec::new();
    let mut lanes = lanes(transaction, request, kind, &mut set_aside)?;
    let mut turn = last_turn(transaction)?;
    let mut events = Events::default();
    let mut leased = Vec::new();
    let mut bulkheads = request.bulkheads;
    loop {
        lanes.retain(|lane| !lane.due.is_empty() && bulkheads.room(lane.standing) > 0);
        if lanes.is_empty() || leased.len() >= request.limit {
            break;
        }
        for lane in &mut lanes {
            let has_room = leased.len() < request.limit && bulkheads.room(lane.standing) > 0;
            let Some(mut delivery) = lane.due.pop_front().filter(|_| has_room) else {
                continue;
            };
            let (due_at, standing) = (delivery.due_at, lane.standing);
            let Some(event) = events.load(transaction, &delivery.id.event)? else {
                set_aside.push(aside(
                    transaction,
                    delivery.unreadable(),
                    FailureReason::Unreadable,
                )?);
                continue;
            };
            match delivery.lease(request) {
                Lease::Refused => {}
                Lease::Quarantined => {
                    set_aside.push(aside(transaction, delivery, FailureReason::Quarantined)?);
                }
                Lease::Taken => {
                    turn += 1;
                    delivery::update(transaction, &delivery)?;
                    take_turn(transaction, &lane.endpoint, turn)?;
                    bulkheads.take(standing);
                    leased.push(Leased {
                        delivery,
                        event,
                        due_at,
                        standing,
                    });
                }
            }
        }
    }
    Ok(Leases { leased, set_aside })
}

fn aside(
    transaction: &Transaction<'_>,
    failed: Delivery,
    reason: FailureReason,
) -> Result<SetAside, DatabaseError> {
    delivery::update(transaction, &failed)?;
    let delivery = failed.id;
    Ok(SetAside { delivery, reason })
}

/// The endpoints with due rows and free capacity, in the order of their turns, at most one for each
/// lease of their bulkhead.
fn lanes(
    transaction: &Transaction<'_>,
    request: &LeaseRequest,
    kind: Kind,
    set_aside: &mut Vec<SetAside>,
) -> Result<Vec<Lane>, DatabaseError> {
    let mut statement = transaction.prepare_cached(kind.lanes)?;
    let bulkheads = &request.bulkheads;
    let values = (
        Time(request.now),
        limit(request.per_endpoint),
        limit(request.per_endpoint.min(bulkheads.per_unproven)),
        limit(request.limit),
        limit(request.limit.min(bulkheads.room(Standing::Unproven))),
        limit(request.limit.min(bulkheads.room(Standing::Silent))),
    );
    let found = statement.query_map(values, |row| {
        let Term(standing) = row.get(1)?;
        Ok((row.get(0)?, standing, row.get(2)?))
    })?;
    let found = found.collect::<Result<Vec<(String, Standing, i64)>, _>>()?;

    let most = limit(request.limit.saturating_sub(found.len())).saturating_add(1);
    let lanes = found.into_iter().map(|(endpoint, standing, room)| {
        let rows = due(transaction, kind, (&endpoint, request.now, room.min(most)))?;
        let mut due = VecDeque::with_capacity(rows.len());
        for row in rows {
            match row {
                Ok(delivery) => due.push_back(delivery),
                Err(key) => set_aside.extend(unreadable(transaction, key, request.now)?),
            }
        }
        Ok(Lane {
            endpoint,
            standing,
            due,
        })
    });
    lanes.collect()
}

fn due(
    transaction: &Transaction<'_>,
    kind: Kind,
    (endpoint, now, count): (&str, SystemTime, i64),
) -> Result<Vec<Result<Delivery, Key>>, DatabaseError> {
    let mut statement = transaction.prepare_cached(kind.due)?;
    let due = statement.query_map((endpoint, Time(now), count), |row| Ok(readable(row)))?;
    due.map(|row| row?).collect()
}

/// The stored key of a row.
struct Key {
    event: String,
    endpoint: String,
}

/// The row, or its key if a column is invalid.
fn readable(row: &Row<'_>) -> Result<Result<Delivery, Key>, DatabaseError> {
    match delivery::from_row(row).map_err(DatabaseError::from) {
        Ok(delivery) => Ok(Ok(delivery)),
        Err(error) if error.kind() == DatabaseErrorKind::Corrupt => Ok(Err(Key {
            event: row.get(0)?,
            endpoint: row.get(1)?,
        })),
        Err(error) => Err(error),
    }
}

/// Replaces an unreadable row by a failure, reported if at least its id is readable. The fencing
/// token stays.
fn unreadable(
    transaction: &Transaction<'_>,
    Key { event, endpoint }: Key,
    now: SystemTime,
) -> Result<Option<SetAside>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "UPDATE webhook_delivery SET state = ?3, due_at = ?4, attempts = 0, started_at = ?4, reason = ?5, crashes = 0, owner = NULL
         WHERE event = ?1 AND endpoint = ?2",
    )?;
    let (state, reason) = (DeliveryState::DeadLetter, FailureReason::Unreadable);
    statement.execute((&event, &endpoint, state.as_str(), Time(now), reason.as_str()))?;
    let id = event.parse().ok().zip(endpoint.parse().ok());
    let id = id.map(|(event, endpoint)| DeliveryId { event, endpoint });
    Ok(id.map(|delivery| SetAside { delivery, reason }))
}

fn last_turn(transaction: &Transaction<'_>) -> Result<i64, DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT coalesce(max(last_turn), 0) FROM webhook_lane")?;
    Ok(statement.query_row((), |row| row.get(0))?)
}

fn take_turn(transaction: &Transaction<'_>, endpoint: &str, turn: i64) -> Result<(), DatabaseError> {
    let mut statement =
        transaction.prepare_cached("UPDATE webhook_lane SET last_turn = ?2 WHERE endpoint = ?1")?;
    statement.execute((endpoint, turn))?;
    Ok(())
}

/// Events with bodies, each read once for any number of endpoints.
#[derive(Default)]
struct Events(HashMap<EventId, StoredEvent>);

impl Events {
    /// The event, unless it is missing or invalid.
    fn load(
        &mut self,
        transaction: &Transaction<'_>,
        id: &EventId,
    ) -> Result<Option<StoredEvent>, DatabaseError> {
        if let Some(event) = self.0.get(id) {
            return Ok(Some(event.clone()));
        }
        let event = match delivery::event(transaction, id) {
            Err(error) if error.kind() == DatabaseErrorKind::Corrupt => None,
            event => event?,
        };
        if let Some(event) = &event {
            self.0.insert(id.clone(), event.clone());
        }
        Ok(event)
    }
}
