//! Rows of deliveries: live ones in `webhook_ready`, finished ones in `webhook_finished`. One
//! statement writes a batch.

use std::collections::HashMap;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres};
use webhook_core::sender::{Delivery, DeliveryId, DeliveryState, FailureReason, InstanceId};

use crate::column::{nanoseconds, number, term, time};
use crate::database::DatabaseError;

/// Columns in the order of [`Columns`].
macro_rules! columns {
    () => {
        "event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner"
    };
}

/// A stored row.
pub(super) type Columns = (
    String,
    String,
    String,
    i64,
    i64,
    i64,
    i64,
    Option<String>,
    i64,
    Option<i64>,
);

pub(super) fn from_columns(row: &Columns) -> Result<Delivery, DatabaseError> {
    let (_, _, state, due_at, attempts, fence, started_at, reason, crashes, owner) = row;
    Ok(Delivery {
        id: id_of(row)?,
        state: term(state)?,
        due_at: time(*due_at)?,
        attempts: number(*attempts)?,
        fence: number(*fence)?,
        owner: owner
            .map(|owner| number(owner).map(InstanceId::new))
            .transpose()?,
        started_at: time(*started_at)?,
        reason: reason.as_deref().map(term).transpose()?,
        crashes: number(*crashes)?,
    })
}

/// A delivery for a row that [`from_columns`] could not read, if its ids are readable.
pub(super) fn unreadable(row: &Columns) -> Result<Delivery, DatabaseError> {
    let (_, _, _, due_at, attempts, fence, started_at, _, _, _) = row;
    let delivery = Delivery::new(id_of(row)?, time(*due_at)?);
    let delivery = Delivery {
        attempts: number(*attempts).unwrap_or_default(),
        fence: number(*fence).unwrap_or_default(),
        started_at: time(*started_at)?,
        ..delivery
    };
    Ok(delivery.unreadable())
}

fn id_of((event, endpoint, ..): &Columns) -> Result<DeliveryId, DatabaseError> {
    Ok(DeliveryId {
        event: term(event)?,
        endpoint: term(endpoint)?,
    })
}

/// A batch of deliveries as a table, in the order of [`bind`].
macro_rules! batch {
    () => {
        "unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
                $9::bigint[], $10::bigint[])
             AS batch (event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner)"
    };
}

pub(super) use {batch, columns};

pub(super) fn bind<'q>(
    query: Query<'q, Postgres, PgArguments>,
    deliveries: &[&Delivery],
) -> Query<'q, Postgres, PgArguments> {
    fn column<'a, T>(deliveries: &[&'a Delivery], of: impl Fn(&'a Delivery) -> T) -> Vec<T> {
        deliveries.iter().copied().map(of).collect()
    }
    query
        .bind(column(deliveries, |delivery| delivery.id.event.as_str()))
        .bind(column(deliveries, |delivery| delivery.id.endpoint.as_str()))
        .bind(column(deliveries, |delivery| delivery.state.as_str()))
        .bind(column(deliveries, |delivery| nanoseconds(delivery.due_at)))
        .bind(column(deliveries, |delivery| i64::from(delivery.attempts)))
        .bind(column(deliveries, |delivery| delivery.fence.cast_signed()))
        .bind(column(deliveries, |delivery| nanoseconds(delivery.started_at)))
        .bind(column(deliveries, |delivery| {
            delivery.reason.map(FailureReason::as_str)
        }))
        .bind(column(deliveries, |delivery| i64::from(delivery.crashes)))
        .bind(column(deliveries, |delivery| {
            delivery.owner.map(|owner| owner.number().cast_signed())
        }))
}

/// Common table expressions that write a `batch` with the column `live`: live rows are updated,
/// finished ones move to the other table.
macro_rules! write_batch {
    () => {
        concat!(
            "changed AS (
             UPDATE webhook_ready AS ready
             SET state = batch.state, due_at = batch.due_at, attempts = batch.attempts, fence = batch.fence,
                 started_at = batch.started_at, reason = batch.reason, crashes = batch.crashes,
                 owner = batch.owner
             FROM batch WHERE live AND ready.event = batch.event AND ready.endpoint = batch.endpoint
         ), over AS (
             DELETE FROM webhook_ready AS ready USING batch
             WHERE NOT live AND ready.event = batch.event AND ready.endpoint = batch.endpoint
         ), finished AS (
             INSERT INTO webhook_finished (",
            crate::webhook::outbox::delivery::columns!(),
            ") SELECT ",
            crate::webhook::outbox::delivery::columns!(),
            " FROM batch WHERE NOT live
         )"
        )
    };
}

/// A batch with the column `live` from the parameter after those of [`bind`].
macro_rules! live_batch {
    () => {
        "batch AS MATERIALIZED (
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
                                  $7::bigint[], $8::text[], $9::bigint[], $10::bigint[], $11::boolean[])
                 AS batch (event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner, live)
         )"
    };
}

pub(super) use {live_batch, write_batch};

/// Binds a batch with the column `live`.
pub(super) fn bind_live<'q>(
    query: Query<'q, Postgres, PgArguments>,
    deliveries: &[&Delivery],
) -> Query<'q, Postgres, PgArguments> {
    let live: Vec<bool> = deliveries
        .iter()
        .map(|delivery| delivery.state.is_live())
        .collect();
    bind(query, deliveries).bind(live)
}

/// Updates live rows; finished ones move to the other table.
pub(super) async fn update(
    connection: &mut PgConnection,
    deliveries: &[&Delivery],
) -> Result<(), DatabaseError> {
    if !deliveries.is_empty() {
        let update = concat!("WITH ", live_batch!(), ", ", write_batch!(), " SELECT");
        bind_live(sqlx::query(update), deliveries)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Moves finished rows back to the live ones.
pub(super) async fn revive(
    connection: &mut PgConnection,
    deliveries: &[&Delivery],
) -> Result<(), DatabaseError> {
    let revive = concat!(
        "WITH batch AS MATERIALIZED (SELECT * FROM ",
        batch!(),
        "), again AS (
             DELETE FROM webhook_finished AS finished USING batch
             WHERE finished.event = batch.event AND finished.endpoint = batch.endpoint
         )
         INSERT INTO webhook_ready (",
        columns!(),
        ") SELECT ",
        columns!(),
        " FROM batch"
    );
    execute(connection, revive, deliveries).await
}

/// Removes live rows whose ids are unreadable; a list reports them as an error.
pub(super) async fn remove(connection: &mut PgConnection, rows: &[Columns]) -> Result<(), DatabaseError> {
    let (events, endpoints): (Vec<&str>, Vec<&str>) = rows
        .iter()
        .map(|(event, endpoint, ..)| (event.as_str(), endpoint.as_str()))
        .unzip();
    sqlx::query(concat!(
        "WITH removed AS (
             DELETE FROM webhook_ready AS ready USING unnest($1::text[], $2::text[]) AS batch (event, endpoint)
             WHERE ready.event = batch.event AND ready.endpoint = batch.endpoint RETURNING ready.*
         )
         INSERT INTO webhook_finished (",
        columns!(),
        ") SELECT event, endpoint, $3, due_at, attempts, fence, started_at, $4, crashes, NULL FROM removed"
    ))
    .bind(events)
    .bind(endpoints)
    .bind(DeliveryState::DeadLetter.as_str())
    .bind(FailureReason::Unreadable.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

async fn execute(
    connection: &mut PgConnection,
    statement: &'static str,
    deliveries: &[&Delivery],
) -> Result<(), DatabaseError> {
    if !deliveries.is_empty() {
        bind(sqlx::query(statement), deliveries)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Loads the readable rows of these ids, live or finished; a lease handles the unreadable ones.
pub(super) async fn load(
    connection: &mut PgConnection,
    ids: impl Iterator<Item = &DeliveryId>,
) -> Result<HashMap<DeliveryId, Delivery>, DatabaseError> {
    let (events, endpoints): (Vec<&str>, Vec<&str>) =
        ids.map(|id| (id.event.as_str(), id.endpoint.as_str())).unzip();
    let rows: Vec<Columns> = sqlx::query_as(concat!(
        "WITH key AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::text[]) AS key (event, endpoint))
         SELECT ",
        columns!(),
        " FROM key JOIN webhook_ready USING (event, endpoint)
         UNION ALL
         SELECT ",
        columns!(),
        " FROM key JOIN webhook_finished USING (event, endpoint)"
    ))
    .bind(events)
    .bind(endpoints)
    .fetch_all(connection)
    .await?;
    let deliveries = rows.iter().filter_map(|row| from_columns(row).ok());
    Ok(deliveries
        .map(|delivery| (delivery.id.clone(), delivery))
        .collect())
}
