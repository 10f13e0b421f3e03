//! Fair leases (W17): endpoints take turns, one due delivery a turn.
//!
//! A dispatcher skips locked lanes and never waits: their due deliveries are leased by the holder
//! of the lock, or later. So a stalled process delays only the endpoint whose lane it holds.

use std::collections::{HashMap, HashSet};

use sqlx::{PgConnection, PgPool};
use webhook_core::sender::{Delivery, Lease, LeaseRequest, Leased, Leases, SetAside, StoredEvent};

use super::delivery::{self, columns};
use super::lane::{self, Kind, others, suspects};
use crate::column::{limit, nanoseconds, term, time};
use crate::database::{DatabaseError, begin};

/// Leases suspects first, as many as their limit allows, then other deliveries.
pub(super) async fn lease(pool: &PgPool, request: &LeaseRequest) -> Result<Leases, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let mut leases = Leases::default();
    let suspects = request.limit.min(request.suspects);
    for (kind, limit) in [(Kind::Suspects, suspects), (Kind::Others, request.limit)] {
        let limit = limit.saturating_sub(leases.leased.len());
        let more = lease_those(&mut transaction, &LeaseRequest { limit, ..*request }, kind).await?;
        leases.leased.extend(more.leased);
        leases.set_aside.extend(more.set_aside);
    }
    transaction.commit().await?;
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
        delivery::update(connection, &changed).await?;
        lane::take_turns(connection, &last_turns(&changed)).await?;
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

impl Sorted {
    fn of(rows: &[delivery::Columns], events: &HashMap<String, StoredEvent>, request: &LeaseRequest) -> Self {
        let mut sorted = Self::default();
        for row in rows {
            match delivery::from_columns(row) {
                Ok(delivery) => sorted.lease(delivery, events, request),
                Err(_) => match delivery::unreadable(row) {
                    Ok(unreadable) => sorted.failed.push(unreadable),
                    Err(_) => sorted.nameless.push(row.clone()),
                },
            }
        }
        sorted
    }

    fn lease(
        &mut self,
        mut delivery: Delivery,
        events: &HashMap<String, StoredEvent>,
        request: &LeaseRequest,
    ) {
        let Some(event) = events.get(delivery.id.event.as_str()) else {
            self.failed.push(delivery.unreadable());
            return;
        };
        match delivery.lease(request) {
            Lease::Taken => self.leased.push(Leased {
                delivery,
                event: event.clone(),
            }),
            Lease::Quarantined => self.failed.push(delivery),
            // a finished state is an error in this table
            Lease::Refused => self.failed.push(delivery.unreadable()),
        }
    }

    fn is_clean(&self) -> bool {
        self.failed.is_empty() && self.nameless.is_empty()
    }
}

/// The statement of [`due`] by a condition on the rows.
macro_rules! due_rows {
    ($rows:expr) => {
        concat!("SELECT ", columns!(), "
         FROM (SELECT ready.*, lane.last_turn,
                      row_number() OVER (PARTITION BY ready.endpoint ORDER BY ready.due_at, ready.event) AS turn
               FROM (SELECT endpoint, last_turn, least($2, coalesce(concurrency, $6)) - (
                         SELECT count(*) FROM webhook_ready AS leased
                         WHERE leased.endpoint = lane.endpoint AND leased.state = 'leased' AND leased.due_at > $1
                     ) AS room
                     FROM webhook_lane AS lane
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
) -> Result<Vec<delivery::Columns>, DatabaseError> {
    let most_of_one = request.limit.saturating_sub(lanes.len()).saturating_add(1);
    let rows = match kind {
        Kind::Suspects => due_rows!(suspects!()),
        Kind::Others => due_rows!(others!()),
    };
    let due = sqlx::query_as(rows)
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
        .bind(lanes)
        .bind(limit(most_of_one))
        .bind(limit(request.limit))
        .bind(lane::first_limit())
        .fetch_all(connection)
        .await?;
    Ok(due)
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

/// The readable events. A body is read once for any number of endpoints.
async fn events(
    connection: &mut PgConnection,
    rows: &[delivery::Columns],
) -> Result<HashMap<String, StoredEvent>, DatabaseError> {
    let ids: HashSet<&str> = rows.iter().map(|(event, ..)| event.as_str()).collect();
    let rows: Vec<(String, String, i64, Vec<u8>)> =
        sqlx::query_as("SELECT id, event_type, created_at, body FROM webhook_event WHERE id = ANY($1)")
            .bind(ids.into_iter().collect::<Vec<_>>())
            .fetch_all(connection)
            .await?;
    let event = |(id, event_type, created_at, body): (String, String, i64, Vec<u8>)| -> Option<_> {
        let event = StoredEvent {
            id: term(&id).ok()?,
            event_type: term(&event_type).ok()?,
            created_at: time(created_at).ok()?,
            body: body.into(),
        };
        Some((id, event))
    };
    Ok(rows.into_iter().filter_map(event).collect())
}
