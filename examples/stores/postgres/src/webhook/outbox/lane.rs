//! Lanes: one row for each endpoint that ever got an event, whose lock covers its live deliveries.
//!
//! Blocking locks are always taken in the order of the endpoint ids, so no deadlock is possible.

use std::collections::HashMap;
use std::num::NonZeroU32;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use webhook_core::sender::{Delivery, EndpointHealth, EndpointId, Lane, LeaseRequest, Standing};

use super::delivery::{self, live_batch, write_batch};
use crate::column::{limit, nanoseconds, number, term, time};
use crate::database::DatabaseError;

/// Inserts a lane for an unknown endpoint, unless it exists.
pub(super) async fn open(connection: &mut PgConnection, endpoint: &EndpointId) -> Result<(), DatabaseError> {
    sqlx::query("INSERT INTO webhook_lane (endpoint) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(endpoint.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

/// Reads the lane of an endpoint; `None` if there is none, or it is unreadable.
pub(super) async fn load(pool: &PgPool, endpoint: &EndpointId) -> Result<Option<Lane>, DatabaseError> {
    let row: Option<Columns> = sqlx::query_as(
        "SELECT endpoint, held_until, concurrency, successes, failures, failing_since, pauses, counts_from,
                standing, rate, paced_until
         FROM webhook_lane WHERE endpoint = $1",
    )
    .bind(endpoint.as_str())
    .fetch_optional(pool)
    .await?;
    Ok(row.and_then(|row| lane(row).ok()))
}

/// Waits for the locks of these lanes, readable or not.
pub(super) async fn hold(
    transaction: &mut Transaction<'_, Postgres>,
    endpoints: &[&str],
) -> Result<(), DatabaseError> {
    sqlx::query("SELECT FROM webhook_lane WHERE endpoint = ANY($1) ORDER BY endpoint FOR UPDATE")
        .bind(endpoints)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

/// Locks these lanes and reads them.
pub(super) async fn lock(
    connection: &mut PgConnection,
    endpoints: &[&str],
) -> Result<HashMap<EndpointId, Lane>, DatabaseError> {
    let rows: Vec<Columns> = sqlx::query_as(
        "SELECT endpoint, held_until, concurrency, successes, failures, failing_since, pauses, counts_from,
                standing, rate, paced_until
         FROM webhook_lane WHERE endpoint = ANY($1) ORDER BY endpoint FOR UPDATE",
    )
    .bind(endpoints)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(from_columns).collect()
}

/// Columns in the order of the query.
type Columns = (
    String,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<i64>,
);

/// An unreadable lane is replaced by a new one: its values are soon measured again.
fn from_columns(row: Columns) -> Result<(EndpointId, Lane), DatabaseError> {
    Ok((term(&row.0)?, lane(row).unwrap_or_default()))
}

fn lane(
    (
        _,
        held_until,
        limit,
        successes,
        failures,
        failing_since,
        pauses,
        counts_from,
        standing,
        rate,
        paced_until,
    ): Columns,
) -> Result<Lane, DatabaseError> {
    let unknown = EndpointHealth::default();
    let count = |stored: Option<i64>, unknown| stored.map_or(Ok(unknown), number);
    let instant = |stored: Option<i64>| stored.map(time).transpose();
    Ok(Lane {
        held_until: instant(held_until)?,
        health: EndpointHealth {
            limit: count(limit, unknown.limit)?,
            successes: count(successes, unknown.successes)?,
            failures: count(failures, unknown.failures)?,
            failing_since: instant(failing_since)?,
            pauses: count(pauses, unknown.pauses)?,
            counts_from: instant(counts_from)?,
        },
        standing: standing.as_deref().map_or(Ok(Standing::default()), term)?,
        rate: rate.map(number).transpose()?.and_then(NonZeroU32::new),
        paced_until: instant(paced_until)?,
    })
}

/// Common table expression that updates locked lanes, with the parameters of [`bind`] after those
/// of a batch with the column `live`.
macro_rules! write_lanes {
    () => {
        "lanes AS (
             UPDATE webhook_lane AS lane
             SET held_until = new.held_until, concurrency = new.concurrency, successes = new.successes,
                 failures = new.failures, failing_since = new.failing_since, pauses = new.pauses,
                 counts_from = new.counts_from, standing = new.standing, rate = new.rate,
                 paced_until = new.paced_until
             FROM unnest($12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[],
                         $18::bigint[], $19::bigint[], $20::text[], $21::bigint[], $22::bigint[])
                 AS new (endpoint, held_until, concurrency, successes, failures, failing_since, pauses, counts_from,
                         standing, rate, paced_until)
             WHERE lane.endpoint = new.endpoint
         )"
    };
}
pub(super) use write_lanes;

pub(super) fn bind<'q>(
    query: Query<'q, Postgres, PgArguments>,
    lanes: &[(&EndpointId, &Lane)],
) -> Query<'q, Postgres, PgArguments> {
    fn column<T>(lanes: &[(&EndpointId, &Lane)], of: impl Fn(&Lane) -> T) -> Vec<T> {
        lanes.iter().map(|(_, lane)| of(lane)).collect()
    }
    let endpoints: Vec<&str> = lanes.iter().map(|(endpoint, _)| endpoint.as_str()).collect();
    query
        .bind(endpoints)
        .bind(column(lanes, |lane| lane.held_until.map(nanoseconds)))
        .bind(column(lanes, |lane| i64::from(lane.health.limit)))
        .bind(column(lanes, |lane| i64::from(lane.health.successes)))
        .bind(column(lanes, |lane| i64::from(lane.health.failures)))
        .bind(column(lanes, |lane| lane.health.failing_since.map(nanoseconds)))
        .bind(column(lanes, |lane| i64::from(lane.health.pauses)))
        .bind(column(lanes, |lane| lane.health.counts_from.map(nanoseconds)))
        .bind(column(lanes, |lane| lane.standing.as_str()))
        .bind(column(lanes, |lane| lane.rate.map(|rate| i64::from(rate.get()))))
        .bind(column(lanes, |lane| lane.paced_until.map(nanoseconds)))
}

/// `busy`: endpoints with live rows under a condition, each with its earliest due time. Each
/// endpoint costs one lookup in the index `webhook_ready_due`, or in that of the suspects, for any
/// backlog.
macro_rules! busy {
    ($rows:expr) => {
        concat!(
            "WITH RECURSIVE busy AS (
                 (SELECT endpoint, due_at FROM webhook_ready AS ready WHERE ",
            $rows,
            "     ORDER BY endpoint, due_at, event LIMIT 1)
                 UNION ALL
                 SELECT next.endpoint, next.due_at FROM busy CROSS JOIN LATERAL (
                     SELECT endpoint, due_at FROM webhook_ready AS ready WHERE ready.endpoint > busy.endpoint AND ",
            $rows,
            "        ORDER BY endpoint, due_at, event LIMIT 1
                 ) AS next
             )"
        )
    };
}
pub(super) use busy;

/// The statement of [`lock_free`] by a condition on the rows: lanes with due rows, in the order of
/// their turns.
macro_rules! due_lanes {
    ($rows:expr) => {
        concat!(
            busy!($rows),
            " SELECT lane.endpoint FROM (
                  SELECT endpoint, standing, last_turn,
                         row_number() OVER (PARTITION BY standing ORDER BY last_turn, endpoint) AS place
                  FROM (
                      SELECT endpoint, last_turn, concurrency, rate, coalesce(standing, 'unproven') AS standing
                      FROM busy JOIN webhook_lane USING (endpoint)
                      WHERE due_at <= $1 AND (held_until IS NULL OR held_until <= $1)
                  ) AS due
                  WHERE (SELECT count(*) FROM webhook_ready AS leased
                         WHERE leased.endpoint = due.endpoint AND leased.state = 'leased' AND leased.due_at > $1)
                        < least(CASE standing WHEN 'answering' THEN $2 ELSE $3 END, coalesce(concurrency, $4), rate)
              ) AS free JOIN webhook_lane AS lane USING (endpoint)
              WHERE place <= CASE free.standing WHEN 'answering' THEN $5 WHEN 'silent' THEN $7 ELSE $6 END
              ORDER BY free.last_turn, lane.endpoint FOR UPDATE OF lane SKIP LOCKED"
        )
    };
}

/// Concurrency limit of an endpoint without measurements.
pub(super) fn first_limit() -> i64 {
    EndpointHealth::default().limit.into()
}

/// Rows whose next lease is that of a suspect: see `Delivery::becomes_suspect`.
macro_rules! suspects {
    () => {
        "ready.state = 'leased' AND ready.crashes > 0"
    };
}

macro_rules! others {
    () => {
        "NOT (ready.state = 'leased' AND ready.crashes > 0)"
    };
}

pub(super) use {others, suspects};

/// Selects rows of a lane.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Suspects,
    Others,
}

/// Locks the lanes that have due rows and free capacity, and skips those that are locked.
pub(super) async fn lock_free(
    connection: &mut PgConnection,
    request: &LeaseRequest,
    kind: Kind,
) -> Result<Vec<String>, DatabaseError> {
    let lanes = match kind {
        Kind::Suspects => due_lanes!(suspects!()),
        Kind::Others => due_lanes!(others!()),
    };
    let free = sqlx::query_scalar(lanes)
        .bind(nanoseconds(request.now))
        .bind(limit(request.per_endpoint))
        .bind(limit(request.per_endpoint.min(request.bulkheads.per_unproven)))
        .bind(first_limit())
        .bind(limit(request.limit))
        .bind(limit(
            request.limit.min(request.bulkheads.room(Standing::Unproven)),
        ))
        .bind(limit(request.limit.min(request.bulkheads.room(Standing::Silent))));
    Ok(free.fetch_all(connection).await?)
}

/// Writes leased deliveries, and records a turn of their endpoints in the order of `turns`.
pub(super) async fn take_turns(
    connection: &mut PgConnection,
    leased: &[&Delivery],
    turns: &[&str],
) -> Result<(), DatabaseError> {
    let take = concat!(
        "WITH ",
        live_batch!(),
        ", ",
        write_batch!(),
        ", turn AS MATERIALIZED (
             SELECT endpoint, nextval('webhook_turn') AS number FROM unnest($12::text[]) AS endpoint
         )
         UPDATE webhook_lane AS lane SET last_turn = turn.number FROM turn WHERE lane.endpoint = turn.endpoint"
    );
    delivery::bind_live(sqlx::query(take), leased)
        .bind(turns)
        .execute(connection)
        .await?;
    Ok(())
}
