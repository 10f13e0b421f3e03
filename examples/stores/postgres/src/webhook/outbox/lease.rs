//! Fair leases (W17): endpoints take turns, one due delivery a turn.
//!
//! A dispatcher skips locked lanes and never waits: their due deliveries are leased by the holder
//! of the lock, or later. So a stalled process delays only the endpoint whose lane it holds.

use std::collections::{HashMap, HashSet};

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row};
use webhook_core::sender::{Delivery, Lease, LeaseRequest, Leased, Leases, SetAside, Standing, StoredEvent};

use super::delivery::{self, columns};
use super::instance;
use super::lane::{self, Kind, others, suspects};
use crate::column::{limit, nanoseconds, term, time};
use crate::database::DatabaseError;

/// Leases suspects first, as many as their limit allows, then other deliveries.
pub(super) async fn lease(
    connection: &mut PgConnection,
    request: &LeaseRequest,
) -> Result<Leases, DatabaseError> {
    let mut leases = Leases::default();
    let Some(has_suspects) = instance::hold(connection, request).await? else {
        return Ok(leases);
    };
    let mut bulkheads = request.bulkheads;
    let suspects = if has_suspects {
        request.limit.min(request.suspects)
    } else {
        0
    };
    for (kind, limit) in [(Kind::Suspects, suspects), (Kind::Others, request.limit)] {
        let request = LeaseRequest {
            limit: limit.saturating_sub(leases.leased.len()),
            bulkheads,
            ..*request
        };
        let more = lease_those(connection, &request, kind).await?;
        for leased in &more.leased {
            bulkheads.take(leased.standing);
        }
        leases.leased.extend(more.leased);
        leases.set_aside.extend(more.set_aside);
    }
    Ok(leases)
}

/// Unreadable deliveries are set aside first, then the search is repeated, so that they take no
/// slot.
async fn lease_those(
    connection: &mut PgConnection,
    request: &LeaseRequest,
    kind: Kind,
) -> Result<Leases, DatabaseError> {
    let mut leases = Leases::default();
    if request.limit == 0 {
        return Ok(leases);
    }
    let lanes = lane::lock_free(connection, request, kind).await?;
    if lanes.is_empty() {
        return Ok(leases);
    }
    loop {
        let rows = due(connection, &lanes, request, kind).await?;
        let events = events(connection, &rows).await?;
        let sorted = Sorted::of(&rows, &events, request);
        if sorted.is_clean() {
            leases.leased = sorted.leased;
            break;
        }
        delivery::update(connection, &sorted.failed.iter().collect::<Vec<_>>()).await?;
        delivery::remove(connection, &sorted.nameless).await?;
        leases
            .set_aside
            .extend(sorted.failed.into_iter().filter_map(set_aside));
    }
    let changed: Vec<&Delivery> = leases.leased.iter().map(|leased| &leased.delivery).collect();
    if !changed.is_empty() {
        lane::take_turns(connection, &changed, &last_turns(&changed)).await?;
    }
    Ok(leases)
}

fn set_aside(failed: Delivery) -> Option<SetAside> {
    Some(SetAside {
        reason: failed.reason?,
        delivery: failed.id,
    })
}

/// Due rows by the result of their lease.
#[derive(Default)]
struct Sorted {
    leased: Vec<Leased>,
    failed: Vec<Delivery>,
    nameless: Vec<delivery::Columns>,
}

/// A due row, and the standing of its endpoint.
type Due = (delivery::Columns, Standing);

impl Sorted {
    fn of(rows: &[Due], events: &HashMap<String, StoredEvent>, request: &LeaseRequest) -> Self {
        let mut sorted = Self::default();
        let mut bulkheads = request.bulkheads;
        for (row, standing) in rows {
            match delivery::from_columns(row) {
                Ok(_) if bulkheads.room(*standing) == 0 => {}
                Ok(delivery) => {
                    if sorted.lease(delivery, *standing, events, request) {
                        bulkheads.take(*standing);
                    }
                }
                Err(_) => match delivery::unreadable(row) {
                    Ok(unreadable) => sorted.failed.push(unreadable),
                    Err(_) => sorted.nameless.push(row.clone()),
                },
            }
        }
        sorted
    }

    /// Returns `true` if the delivery is leased.
    fn lease(
        &mut self,
        mut delivery: Delivery,
        standing: Standing,
        events: &HashMap<String, StoredEvent>,
        request: &LeaseRequest,
    ) -> bool {
        let Some(event) = events.get(delivery.id.event.as_str()) else {
            self.failed.push(delivery.unreadable());
            return false;
        };
        let due_at = delivery.due_at;
        match delivery.lease(request) {
            Lease::Taken => {
                self.leased.push(Leased {
                    delivery,
                    event: event.clone(),
                    due_at,
                    standing,
                });
                return true;
            }
            Lease::Quarantined => self.failed.push(delivery),
            // a finished state is an error in this table
            Lease::Refused => self.failed.push(delivery.unreadable()),
        }
        false
    }

    fn is_clean(&self) -> bool {
        self.failed.is_empty() && self.nameless.is_empty()
    }
}

/// The statement of [`due`] by a condition on the rows.
macro_rules! due_rows {
    ($rows:expr) => {
        concat!("SELECT ", columns!(), ", standing
         FROM (SELECT ready.*, lane.last_turn, lane.standing,
                      row_number() OVER (PARTITION BY ready.endpoint ORDER BY ready.due_at, ready.event) AS turn
               FROM (SELECT endpoint, last_turn, standing,
                            least(CASE standing WHEN 'answering' THEN $2 ELSE $7 END, coalesce(concurrency, $6), rate) - (
                                SELECT count(*) FROM webhook_ready AS leased
                                WHERE leased.endpoint = lane.endpoint AND leased.state = 'leased' AND leased.due_at > $1
                            ) AS room
                     FROM (SELECT endpoint, last_turn, concurrency, rate, held_until,
                                  coalesce(standing, 'unproven') AS standing
                           FROM webhook_lane) AS lane
                     WHERE endpoint = ANY($3) AND (held_until IS NULL OR held_until <= $1)) AS lane
               CROSS JOIN LATERAL (
                   SELECT * FROM webhook_ready AS ready
                   WHERE ready.endpoint = lane.endpoint AND ready.due_at <= $1 AND ", $rows, "
                   ORDER BY ready.due_at, ready.event LIMIT greatest(least(lane.room, $4), 0)
               ) AS ready) AS due
         ORDER BY turn, last_turn, endpoint LIMIT $5")
    };
}

/// Due rows of these lanes within their limits, in turns: the first of each lane, then the second.
async fn due(
    connection: &mut PgConnection,
    lanes: &[String],
    request: &LeaseRequest,
    kind: Kind,
) -> Result<Vec<Due>, DatabaseError> {
    let most_of_one = request.limit.saturating_sub(lanes.len()).saturating_add(1);
    let rows = match kind {
        Kind::Suspects => due_rows!(suspects!()),
        Kind::Others => due_rows!(others!()),
    };
    let due = sqlx::query(rows)
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
        .bind(lanes)
        .bind(limit(most_of_one))
        .bind(limit(request.limit))
        .bind(lane::first_limit())
        .bind(limit(request.per_endpoint.min(request.bulkheads.per_unproven)))
        .fetch_all(connection)
        .await?;
    let due = due.into_iter().map(|row: PgRow| {
        let standing: String = row.try_get("standing")?;
        // an unreadable standing is measured again
        Ok((
            delivery::Columns::from_row(&row)?,
            term(&standing).unwrap_or_default(),
        ))
    });
    due.collect()
}

/// Each endpoint once, in the order of its last turn.
fn last_turns<'a>(deliveries: &[&'a Delivery]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let endpoints = deliveries
        .iter()
        .rev()
        .map(|delivery| delivery.id.endpoint.as_str());
    let mut turns: Vec<&str> = endpoints.filter(|endpoint| seen.insert(*endpoint)).collect();
    turns.reverse();
    turns
}

/// Columns in the order of the query of [`events`].
type EventColumns = (String, String, String, i64, Option<Vec<u8>>, Option<String>);

/// The readable events. A body is read once for any number of endpoints.
async fn events(
    connection: &mut PgConnection,
    rows: &[Due],
) -> Result<HashMap<String, StoredEvent>, DatabaseError> {
    let ids: HashSet<&str> = rows.iter().map(|((event, ..), _)| event.as_str()).collect();
    let rows: Vec<EventColumns> = sqlx::query_as(
        "SELECT id, event_type, audience, created_at, body, trace FROM webhook_event WHERE id = ANY($1)",
    )
    .bind(ids.into_iter().collect::<Vec<_>>())
    .fetch_all(connection)
    .await?;
    let event = |(id, event_type, audience, created_at, body, trace): EventColumns| -> Option<_> {
        let event = StoredEvent {
            id: term(&id).ok()?,
            event_type: term(&event_type).ok()?,
            audience: term(&audience).ok()?,
            created_at: time(created_at).ok()?,
            body: body?.into(),
            // without a readable trace the event is still sent
            trace: trace.and_then(|trace| trace.parse().ok()),
        };
        Some((id, event))
    };
    Ok(rows.into_iter().filter_map(event).collect())
}
