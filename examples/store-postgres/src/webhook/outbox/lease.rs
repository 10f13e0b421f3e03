//! Fair leases (W17): endpoints first, then their due deliveries, one a turn.
//!
//! A dispatcher takes the lanes that nobody works on and is done, if that was enough. If not, it waits for the others: what is
//! due is never left behind because two dispatchers looked at once.

use std::collections::{HashMap, HashSet};

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use webhook_core::sender::{Delivery, LeaseRequest, Leased, StoredEvent};

use super::{delivery, lane};
use crate::column::{limit, nanoseconds, term, time};
use crate::database::{DatabaseError, begin};

pub(super) async fn lease(pool: &PgPool, request: &LeaseRequest) -> Result<Vec<Leased>, DatabaseError> {
    let mut leased = from_free_lanes(pool, request).await?;
    while leased.len() < request.limit {
        let rest = LeaseRequest {
            limit: request.limit - leased.len(),
            ..*request
        };
        let more = from_any_lanes(pool, &rest).await?;
        if more.is_empty() {
            // nothing is due, or others were faster
            break;
        }
        leased.extend(more);
    }
    Ok(leased)
}

async fn from_free_lanes(pool: &PgPool, request: &LeaseRequest) -> Result<Vec<Leased>, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let lanes = lane::lock_free(&mut transaction, request).await?;
    lease_from(transaction, &lanes, request).await
}

async fn from_any_lanes(pool: &PgPool, request: &LeaseRequest) -> Result<Vec<Leased>, DatabaseError> {
    let lanes = lane::due(pool, request).await?;
    if lanes.is_empty() {
        return Ok(Vec::new());
    }
    let mut transaction = begin(pool).await?;
    let names: Vec<&str> = lanes.iter().map(String::as_str).collect();
    lane::lock(&mut transaction, &names).await?;
    lease_from(transaction, &lanes, request).await
}

/// Leases from lanes that the transaction holds.
async fn lease_from(
    mut transaction: Transaction<'_, Postgres>,
    lanes: &[String],
    request: &LeaseRequest,
) -> Result<Vec<Leased>, DatabaseError> {
    if lanes.is_empty() {
        return Ok(Vec::new());
    }
    let mut deliveries = due(&mut transaction, lanes, request).await?;
    deliveries.retain_mut(|delivery| delivery.lease(request.now, request.until));
    if deliveries.is_empty() {
        return Ok(Vec::new());
    }
    let changed: Vec<&Delivery> = deliveries.iter().collect();
    delivery::update(&mut transaction, &changed).await?;
    lane::take_turns(&mut transaction, &last_turns(&deliveries)).await?;
    let leased = with_events(&mut transaction, deliveries).await?;
    transaction.commit().await?;
    Ok(leased)
}

/// What is due in these lanes and has room, in the order of the turns: the first of each lane, then the second of each.
async fn due(
    connection: &mut PgConnection,
    lanes: &[String],
    request: &LeaseRequest,
) -> Result<Vec<Delivery>, DatabaseError> {
    let most_of_one = request.limit.saturating_sub(lanes.len()).saturating_add(1);
    let rows: Vec<delivery::Columns> = sqlx::query_as(
        "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason
         FROM (SELECT ready.*, lane.last_turn,
                      row_number() OVER (PARTITION BY ready.endpoint ORDER BY ready.due_at, ready.event) AS turn
               FROM (SELECT endpoint, last_turn, $2 - (
                         SELECT count(*) FROM webhook_ready AS leased
                         WHERE leased.endpoint = lane.endpoint AND leased.state = 'leased' AND leased.due_at > $1
                     ) AS room
                     FROM webhook_lane AS lane
                     WHERE endpoint = ANY($3) AND (held_until IS NULL OR held_until <= $1)) AS lane
               CROSS JOIN LATERAL (
                   SELECT * FROM webhook_ready AS ready
                   WHERE ready.endpoint = lane.endpoint AND ready.due_at <= $1
                   ORDER BY ready.due_at, ready.event LIMIT greatest(least(lane.room, $4), 0)
               ) AS ready) AS due
         ORDER BY turn, last_turn, endpoint LIMIT $5",
    )
    .bind(nanoseconds(request.now))
    .bind(limit(request.per_endpoint))
    .bind(lanes)
    .bind(limit(most_of_one))
    .bind(limit(request.limit))
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(delivery::from_columns).collect()
}

/// Each endpoint once, in the order of its last turn.
fn last_turns(deliveries: &[Delivery]) -> Vec<&str> {
    let mut seen = HashSet::new();
    let endpoints = deliveries
        .iter()
        .rev()
        .map(|delivery| delivery.id.endpoint.as_str());
    let mut turns: Vec<&str> = endpoints.filter(|endpoint| seen.insert(*endpoint)).collect();
    turns.reverse();
    turns
}

/// Adds what is to be sent. Bodies are read once, however many endpoints get them.
async fn with_events(
    connection: &mut PgConnection,
    deliveries: Vec<Delivery>,
) -> Result<Vec<Leased>, DatabaseError> {
    let ids: HashSet<&str> = deliveries
        .iter()
        .map(|delivery| delivery.id.event.as_str())
        .collect();
    let rows: Vec<(String, String, i64, Vec<u8>)> =
        sqlx::query_as("SELECT id, event_type, created_at, body FROM webhook_event WHERE id = ANY($1)")
            .bind(ids.into_iter().collect::<Vec<_>>())
            .fetch_all(connection)
            .await?;
    let mut events = HashMap::with_capacity(rows.len());
    for (id, event_type, created_at, body) in rows {
        let event = StoredEvent {
            id: term(&id)?,
            event_type: term(&event_type)?,
            created_at: time(created_at)?,
            body: body.into(),
        };
        events.insert(event.id.clone(), event);
    }
    let leased = deliveries.into_iter().map(|delivery| {
        let event = events.get(&delivery.id.event).cloned();
        let event = event.ok_or_else(|| DatabaseError::corrupt("a delivery without its event"))?;
        Ok(Leased { delivery, event })
    });
    leased.collect()
}
