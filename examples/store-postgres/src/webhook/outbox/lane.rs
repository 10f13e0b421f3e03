//! Lanes: one row for each endpoint that ever got an event, and the lock on all that is under way to it.
//!
//! Locks that are waited for are always taken in the order of the endpoints' ids, so that no two verbs wait for each other.

use std::collections::BTreeMap;
use std::time::SystemTime;

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use webhook_core::sender::{LeaseRequest, Settlement};

use crate::column::{limit, nanoseconds};
use crate::database::DatabaseError;

/// Waits for these lanes and holds them until the transaction ends.
pub(super) async fn lock(
    transaction: &mut Transaction<'_, Postgres>,
    endpoints: &[&str],
) -> Result<(), DatabaseError> {
    sqlx::query("SELECT FROM webhook_lane WHERE endpoint = ANY($1) ORDER BY endpoint FOR UPDATE")
        .bind(endpoints)
        .execute(&mut **transaction)
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
                WHERE leased.endpoint = lane.endpoint AND leased.state = 'leased' AND leased.due_at > $1) < $2
         ORDER BY last_turn, endpoint LIMIT $3"
    };
}

/// Those of them that nobody works on, held until the transaction ends.
pub(super) async fn lock_free(
    transaction: &mut Transaction<'_, Postgres>,
    request: &LeaseRequest,
) -> Result<Vec<String>, DatabaseError> {
    let free = sqlx::query_scalar(concat!(due_lanes!(), " FOR UPDATE SKIP LOCKED"))
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
        .bind(limit(request.limit));
    Ok(free.fetch_all(&mut **transaction).await?)
}

/// All of them, also those that somebody works on.
pub(super) async fn due(pool: &PgPool, request: &LeaseRequest) -> Result<Vec<String>, DatabaseError> {
    let due = sqlx::query_scalar(due_lanes!())
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
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

/// Extends the holds that these settlements ask for.
pub(super) async fn hold<'a>(
    connection: &mut PgConnection,
    settlements: impl IntoIterator<Item = &'a Settlement>,
) -> Result<(), DatabaseError> {
    let mut holds = BTreeMap::<&str, SystemTime>::new();
    for settlement in settlements {
        if let Some(until) = settlement.hold_endpoint_until {
            let held = holds
                .entry(settlement.delivery.endpoint.as_str())
                .or_insert(until);
            *held = until.max(*held);
        }
    }
    if holds.is_empty() {
        return Ok(());
    }
    let (endpoints, until): (Vec<&str>, Vec<i64>) = holds
        .into_iter()
        .map(|(endpoint, until)| (endpoint, nanoseconds(until)))
        .unzip();
    sqlx::query(
        "UPDATE webhook_lane AS lane SET held_until = greatest(held_until, hold.until)
         FROM unnest($1::text[], $2::bigint[]) AS hold (endpoint, until) WHERE lane.endpoint = hold.endpoint",
    )
    .bind(endpoints)
    .bind(until)
    .execute(connection)
    .await?;
    Ok(())
}
