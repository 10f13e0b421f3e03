//! Lanes: one row for each endpoint that ever got an event, and the lock on all that is under way to it.
//!
//! Locks that are waited for are always taken in the order of the endpoints' ids, so that no two verbs wait for each other.

use std::collections::HashMap;

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use webhook_core::sender::{EndpointHealth, EndpointId, Lane, LeaseRequest};

use crate::column::{limit, nanoseconds, number, term, time};
use crate::database::DatabaseError;

/// Waits for these lanes and holds them until the transaction ends.
pub(super) async fn lock(
    transaction: &mut Transaction<'_, Postgres>,
    endpoints: &[&str],
) -> Result<HashMap<EndpointId, Lane>, DatabaseError> {
    let rows: Vec<Columns> = sqlx::query_as(
        "SELECT endpoint, held_until, concurrency, successes, failures, failing_since, pauses, counts_from
         FROM webhook_lane WHERE endpoint = ANY($1) ORDER BY endpoint FOR UPDATE",
    )
    .bind(endpoints)
    .fetch_all(&mut **transaction)
    .await?;
    rows.into_iter().map(from_columns).collect()
}

/// The columns in the order of the query.
type Columns = (
    String,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
);

fn from_columns(
    (endpoint, held_until, limit, successes, failures, failing_since, pauses, counts_from): Columns,
) -> Result<(EndpointId, Lane), DatabaseError> {
    let unknown = EndpointHealth::default();
    let count = |stored: Option<i64>, unknown| stored.map_or(Ok(unknown), number);
    let instant = |stored: Option<i64>| stored.map(time).transpose();
    let lane = Lane {
        held_until: instant(held_until)?,
        health: EndpointHealth {
            limit: count(limit, unknown.limit)?,
            successes: count(successes, unknown.successes)?,
            failures: count(failures, unknown.failures)?,
            failing_since: instant(failing_since)?,
            pauses: count(pauses, unknown.pauses)?,
            counts_from: instant(counts_from)?,
        },
    };
    Ok((term(&endpoint)?, lane))
}

/// Writes lanes that the transaction holds.
pub(super) async fn update(
    connection: &mut PgConnection,
    lanes: &[(&EndpointId, &Lane)],
) -> Result<(), DatabaseError> {
    fn column<T>(lanes: &[(&EndpointId, &Lane)], of: impl Fn(&EndpointHealth) -> T) -> Vec<T> {
        lanes.iter().map(|(_, lane)| of(&lane.health)).collect()
    }
    if lanes.is_empty() {
        return Ok(());
    }
    let endpoints: Vec<&str> = lanes.iter().map(|(endpoint, _)| endpoint.as_str()).collect();
    let held_until: Vec<Option<i64>> = lanes
        .iter()
        .map(|(_, lane)| lane.held_until.map(nanoseconds))
        .collect();
    sqlx::query(
        "UPDATE webhook_lane AS lane
         SET held_until = new.held_until, concurrency = new.concurrency, successes = new.successes,
             failures = new.failures, failing_since = new.failing_since, pauses = new.pauses,
             counts_from = new.counts_from
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                     $8::bigint[])
             AS new (endpoint, held_until, concurrency, successes, failures, failing_since, pauses, counts_from)
         WHERE lane.endpoint = new.endpoint",
    )
    .bind(endpoints)
    .bind(held_until)
    .bind(column(lanes, |health| i64::from(health.limit)))
    .bind(column(lanes, |health| i64::from(health.successes)))
    .bind(column(lanes, |health| i64::from(health.failures)))
    .bind(column(lanes, |health| health.failing_since.map(nanoseconds)))
    .bind(column(lanes, |health| i64::from(health.pauses)))
    .bind(column(lanes, |health| health.counts_from.map(nanoseconds)))
    .execute(connection)
    .await?;
    Ok(())
}

/// The lanes that have something due and room for it, in the order of their turns; each has at least one to give.
///
/// Both questions are one look into an index for each lane, however much waits in it.
macro_rules! due_lanes {
    () => {
        "SELECT endpoint FROM webhook_lane AS lane
         WHERE (held_until IS NULL OR held_until <= $1)
           AND (SELECT min(due_at) FROM webhook_ready AS ready WHERE ready.endpoint = lane.endpoint) <= $1
           AND (SELECT count(*) FROM webhook_ready AS leased
                WHERE leased.endpoint = lane.endpoint AND leased.state = 'leased' AND leased.due_at > $1)
               < least($2, coalesce(concurrency, $3))
         ORDER BY last_turn, endpoint LIMIT $4"
    };
}

/// How much an endpoint gets at a time of which nothing is known.
pub(super) fn first_limit() -> i64 {
    EndpointHealth::default().limit.into()
}

/// Those of them that nobody works on, held until the transaction ends.
pub(super) async fn lock_free(
    transaction: &mut Transaction<'_, Postgres>,
    request: &LeaseRequest,
) -> Result<Vec<String>, DatabaseError> {
    let free = sqlx::query_scalar(concat!(due_lanes!(), " FOR UPDATE SKIP LOCKED"))
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
        .bind(first_limit())
        .bind(limit(request.limit));
    Ok(free.fetch_all(&mut **transaction).await?)
}

/// All of them, also those that somebody works on.
pub(super) async fn due(pool: &PgPool, request: &LeaseRequest) -> Result<Vec<String>, DatabaseError> {
    let due = sqlx::query_scalar(due_lanes!())
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
        .bind(first_limit())
        .bind(limit(request.limit));
    Ok(due.fetch_all(pool).await?)
}

/// Notes that these have had a turn, in this order.
pub(super) async fn take_turns(
    connection: &mut PgConnection,
    endpoints: &[&str],
) -> Result<(), DatabaseError> {
    sqlx::query(
        "WITH turn AS MATERIALIZED (
             SELECT endpoint, nextval('webhook_turn') AS number FROM unnest($1::text[]) AS endpoint
         )
         UPDATE webhook_lane AS lane SET last_turn = turn.number FROM turn WHERE lane.endpoint = turn.endpoint",
    )
    .bind(endpoints)
    .execute(connection)
    .await?;
    Ok(())
}
