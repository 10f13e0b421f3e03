//! Fair leases (W17): endpoints first, then their due deliveries, one a turn.

use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use rusqlite::Transaction;
use webhook_core::event::EventId;
use webhook_core::sender::{Delivery, LeaseRequest, Leased, StoredEvent};

use super::delivery;
use crate::column::{Time, limit};
use crate::database::DatabaseError;

/// An endpoint whose turn it is.
struct Lane {
    endpoint: String,
    due: VecDeque<Delivery>,
}

pub(super) fn lease(
    transaction: &Transaction<'_>,
    request: &LeaseRequest,
) -> Result<Vec<Leased>, DatabaseError> {
    let mut lanes = lanes(transaction, request)?;
    let mut turn = last_turn(transaction)?;
    let mut events = Events::default();
    let mut leased = Vec::new();
    while leased.len() < request.limit && lanes.iter().any(|lane| !lane.due.is_empty()) {
        for lane in &mut lanes {
            let Some(mut delivery) = lane.due.pop_front().filter(|_| leased.len() < request.limit) else {
                continue;
            };
            if delivery.lease(request.now, request.until) {
                turn += 1;
                delivery::update(transaction, &delivery)?;
                take_turn(transaction, &lane.endpoint, turn)?;
                let event = events.load(transaction, &delivery.id.event)?;
                leased.push(Leased { delivery, event });
            }
        }
    }
    Ok(leased)
}

/// The endpoints that have something due and room for it, in the order of their turns, as many as there are leases to
/// give: each gets at least one.
fn lanes(transaction: &Transaction<'_>, request: &LeaseRequest) -> Result<Vec<Lane>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT endpoint, (
             SELECT count(*) FROM webhook_delivery AS held INDEXED BY webhook_delivery_leased
             WHERE held.endpoint = lane.endpoint AND held.state = 'leased' AND held.due_at > ?1
         ) AS under_lease
         FROM webhook_lane AS lane
         WHERE (held_until IS NULL OR held_until <= ?1)
           AND EXISTS (
               SELECT 1 FROM webhook_delivery AS due INDEXED BY webhook_delivery_live
               WHERE due.endpoint = lane.endpoint AND due.due_at <= ?1
                 AND due.state IN ('ready', 'retry_scheduled', 'leased'))
           AND under_lease < ?2
         ORDER BY last_turn, endpoint LIMIT ?3",
    )?;
    let values = (
        Time(request.now),
        limit(request.per_endpoint),
        limit(request.limit),
    );
    let found = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found = found.collect::<Result<Vec<(String, u32)>, _>>()?;

    let most = limit(request.limit.saturating_sub(found.len())).saturating_add(1);
    let lanes = found.into_iter().map(|(endpoint, under_lease)| {
        let room = limit(request.per_endpoint) - i64::from(under_lease);
        Ok(Lane {
            due: due(transaction, &endpoint, request.now, room.min(most))?,
            endpoint,
        })
    });
    lanes.collect()
}

fn due(
    transaction: &Transaction<'_>,
    endpoint: &str,
    now: SystemTime,
    count: i64,
) -> Result<VecDeque<Delivery>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason
         FROM webhook_delivery INDEXED BY webhook_delivery_live
         WHERE endpoint = ?1 AND due_at <= ?2 AND state IN ('ready', 'retry_scheduled', 'leased')
         ORDER BY due_at, event LIMIT ?3",
    )?;
    let due = statement.query_map((endpoint, Time(now), count), delivery::from_row)?;
    Ok(due.collect::<Result<_, _>>()?)
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

/// Bodies read once, however many endpoints get them.
#[derive(Default)]
struct Events(HashMap<EventId, StoredEvent>);

impl Events {
    fn load(&mut self, transaction: &Transaction<'_>, id: &EventId) -> Result<StoredEvent, DatabaseError> {
        if let Some(event) = self.0.get(id) {
            return Ok(event.clone());
        }
        let event = delivery::event(transaction, id)?;
        let event = event.ok_or_else(|| DatabaseError::corrupt("a delivery without its event"))?;
        self.0.insert(id.clone(), event.clone());
        Ok(event)
    }
}
