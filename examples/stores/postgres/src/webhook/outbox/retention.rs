//! Purges old events with their deliveries and log, or their bodies alone (W18).
//!
//! A purge never waits: locked rows are left to the next call. It locks each event, so that no
//! delivery of it is inserted, and the event's deliveries, so that none is replayed.

use sqlx::{PgConnection, PgPool};
use webhook_core::sender::PurgeRequest;

use crate::column::{limit, nanoseconds};
use crate::database::{DatabaseError, begin};

/// Limit of events that one transaction deletes.
const AT_ONCE: usize = 100;

/// Part of an old event that is deleted.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Part {
    Event,
    Body,
}

pub(super) async fn purge(pool: &PgPool, request: &PurgeRequest, part: Part) -> Result<u64, DatabaseError> {
    let (mut purged, mut after) = (0, (i64::MIN, String::new()));
    while purged < request.limit {
        let events = AT_ONCE.min(request.limit - purged);
        let mut transaction = begin(pool).await?;
        let Some((last, old)) = hold(&mut transaction, (request, part), &after, events).await? else {
            break;
        };
        let over = over(&mut transaction, request, &old).await?;
        purged += match part {
            Part::Event => delete(&mut transaction, &over).await?,
            Part::Body => expunge(&mut transaction, &over).await?,
        };
        transaction.commit().await?;
        after = last;
    }
    Ok(purged as u64)
}

/// Condition: the event `$id` is over at `$1`; with `$2` also if deliveries failed.
macro_rules! is_over {
    ($id:literal) => {
        concat!(
            "NOT EXISTS (SELECT FROM webhook_ready WHERE event = ",
            $id,
            ") AND NOT EXISTS (
                 SELECT FROM webhook_finished
                 WHERE event = ",
            $id,
            " AND (started_at >= $1
                   OR NOT (state = 'acked' OR ($2 AND state IN ('permanent_failure', 'dead_letter')))))"
        )
    };
}

/// Position of an event in the order: its time and its id.
type Place = (i64, String);

/// Locks the next old events that are free; returns them with the position of the last.
async fn hold(
    connection: &mut PgConnection,
    (request, part): (&PurgeRequest, Part),
    after: &Place,
    events: usize,
) -> Result<Option<(Place, Vec<String>)>, DatabaseError> {
    let mut found: Vec<Place> = sqlx::query_as(concat!(
        "SELECT created_at, id FROM webhook_event AS event
         WHERE created_at < $1 AND (created_at, id) > ($3, $4) AND (body IS NOT NULL OR NOT $6) AND ",
        is_over!("event.id"),
        " ORDER BY created_at, id LIMIT $5 FOR UPDATE SKIP LOCKED"
    ))
    .bind(nanoseconds(request.before))
    .bind(request.failed)
    .bind(after.0)
    .bind(&after.1)
    .bind(limit(events))
    .bind(part == Part::Body)
    .fetch_all(connection)
    .await?;
    let ids = found.iter().map(|(_, id)| id.clone()).collect();
    Ok(found.pop().map(|last| (last, ids)))
}

/// The events that are still over after their deliveries were locked, without those that were
/// locked by others.
async fn over(
    connection: &mut PgConnection,
    request: &PurgeRequest,
    events: &[String],
) -> Result<Vec<String>, DatabaseError> {
    let held: Vec<(String, String)> = sqlx::query_as(
        "SELECT event, endpoint FROM webhook_finished WHERE event = ANY($1) FOR UPDATE SKIP LOCKED",
    )
    .bind(events)
    .fetch_all(&mut *connection)
    .await?;
    let (of, to): (Vec<String>, Vec<String>) = held.into_iter().unzip();
    let over = sqlx::query_scalar(concat!(
        "SELECT event.id FROM unnest($3::text[]) AS event (id)
         WHERE ",
        is_over!("event.id"),
        " AND NOT EXISTS (
              SELECT FROM webhook_finished AS finished
              WHERE finished.event = event.id AND (finished.event, finished.endpoint) NOT IN (
                  SELECT * FROM unnest($4::text[], $5::text[])))"
    ))
    .bind(nanoseconds(request.before))
    .bind(request.failed)
    .bind(events)
    .bind(of)
    .bind(to);
    Ok(over.fetch_all(connection).await?)
}

/// Deletes the bodies of locked events; returns their number.
async fn expunge(connection: &mut PgConnection, events: &[String]) -> Result<usize, DatabaseError> {
    sqlx::query("UPDATE webhook_event SET body = NULL WHERE id = ANY($1)")
        .bind(events)
        .execute(connection)
        .await?;
    Ok(events.len())
}

/// Deletes locked events with their deliveries and log; returns their number.
async fn delete(connection: &mut PgConnection, events: &[String]) -> Result<usize, DatabaseError> {
    sqlx::query(
        "WITH attempts AS (DELETE FROM webhook_attempt WHERE event = ANY($1)),
              deliveries AS (DELETE FROM webhook_finished WHERE event = ANY($1))
         DELETE FROM webhook_event WHERE id = ANY($1)",
    )
    .bind(events)
    .execute(connection)
    .await?;
    Ok(events.len())
}
