//! Dispatchers as owners of leases (W29), in `webhook_instance`.

use std::time::SystemTime;

use sqlx::{PgConnection, PgPool};
use webhook_core::sender::{Delivery, Departure, Heartbeat, InstanceId, LeaseRequest};

use super::delivery::{self, columns};
use super::lane::{self, suspects};
use crate::column::{nanoseconds, number};
use crate::database::{DatabaseError, begin};

pub(super) async fn join(pool: &PgPool) -> Result<InstanceId, DatabaseError> {
    let id: i64 = sqlx::query_scalar("INSERT INTO webhook_instance DEFAULT VALUES RETURNING id")
        .fetch_one(pool)
        .await?;
    Ok(InstanceId::new(number(id)?))
}

pub(super) async fn beat(
    connection: &mut PgConnection,
    instance: InstanceId,
) -> Result<Vec<Heartbeat>, DatabaseError> {
    // the rest of the statement sees the counter before the update
    let beats: Vec<(i64, i64)> = sqlx::query_as(
        "WITH beat AS (
             UPDATE webhook_instance SET counter = counter + 1 WHERE id = $1 AND NOT leaving
             RETURNING id, counter
         )
         SELECT id, counter FROM beat
         UNION ALL
         SELECT id, counter FROM webhook_instance WHERE id <> $1",
    )
    .bind(instance.number().cast_signed())
    .fetch_all(connection)
    .await?;
    let beats = beats.into_iter().map(|(id, counter)| {
        let instance = InstanceId::new(number(id)?);
        Ok(Heartbeat {
            instance,
            counter: number(counter)?,
        })
    });
    beats.collect()
}

/// Keeps the owner of a lease from leaving until the end of the transaction. Returns `true` if a
/// suspect is due, and `None` if the owner has left.
pub(super) async fn hold(
    connection: &mut PgConnection,
    request: &LeaseRequest,
) -> Result<Option<bool>, DatabaseError> {
    let held = sqlx::query_scalar(concat!(
        "WITH owner AS (SELECT id FROM webhook_instance WHERE id = $1 AND NOT leaving FOR KEY SHARE)
         SELECT EXISTS (SELECT FROM webhook_ready AS ready WHERE due_at <= $2 AND ",
        suspects!(),
        ") WHERE $1 IS NULL OR EXISTS (SELECT FROM owner)"
    ));
    let has_suspects = held
        .bind(request.owner.map(|owner| owner.number().cast_signed()))
        .bind(nanoseconds(request.now))
        .fetch_optional(connection)
        .await?;
    Ok(has_suspects)
}

/// Frees the leases of an instance and removes it.
///
/// - First the instance is marked, which waits for leases of it that are not committed. From then
///   on it gets no lease, and its heartbeat does not change any more.
/// - If the second transaction fails, the instance therefore stays visible as silent, and the next
///   observer repeats it.
/// - No lock of an instance is held while lanes are waited for.
pub(super) async fn leave(
    pool: &PgPool,
    instance: InstanceId,
    departure: Departure,
    now: SystemTime,
) -> Result<u64, DatabaseError> {
    let id = instance.number().cast_signed();
    let seen = match departure {
        Departure::Silent { counter } => Some(counter.cast_signed()),
        Departure::Stopped => None,
    };
    let leaves: bool = sqlx::query_scalar(
        "WITH held AS (SELECT id, counter FROM webhook_instance WHERE id = $1 FOR UPDATE),
              marked AS (
                  UPDATE webhook_instance SET leaving = true
                  WHERE id = (SELECT id FROM held WHERE counter = coalesce($2, counter)) RETURNING id
              )
         SELECT EXISTS (SELECT FROM marked) OR NOT EXISTS (SELECT FROM held)",
    )
    .bind(id)
    .bind(seen)
    .fetch_one(pool)
    .await?;
    if !leaves {
        return Ok(0);
    }
    let mut transaction = begin(pool).await?;
    let endpoints: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT endpoint FROM webhook_ready WHERE state = 'leased' AND owner = $1",
    )
    .bind(id)
    .fetch_all(&mut *transaction)
    .await?;
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    lane::hold(&mut transaction, &endpoints).await?;
    let rows: Vec<delivery::Columns> = sqlx::query_as(concat!(
        "SELECT ",
        columns!(),
        " FROM webhook_ready WHERE state = 'leased' AND owner = $1"
    ))
    .bind(id)
    .fetch_all(&mut *transaction)
    .await?;
    let mut freed: Vec<Delivery> = rows
        .iter()
        .filter_map(|row| delivery::from_columns(row).ok())
        .collect();
    freed.retain_mut(|delivery| delivery.free(instance, departure, now));
    delivery::update(&mut transaction, &freed.iter().collect::<Vec<_>>()).await?;
    // an unreadable row becomes due, so that the next lease sets it aside
    let rest = sqlx::query(
        "UPDATE webhook_ready SET owner = NULL, due_at = $2 WHERE state = 'leased' AND owner = $1",
    )
    .bind(id)
    .bind(nanoseconds(now))
    .execute(&mut *transaction)
    .await?;
    sqlx::query("DELETE FROM webhook_instance WHERE id = $1")
        .bind(id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(freed.len() as u64 + rest.rows_affected())
}

/// Makes deliveries due that were never attempted and are due later.
pub(super) async fn pull_forward(pool: &PgPool, now: SystemTime) -> Result<u64, DatabaseError> {
    let early = "SELECT DISTINCT endpoint FROM webhook_ready WHERE state = 'ready' AND due_at > $1";
    let mut transaction = begin(pool).await?;
    let endpoints: Vec<String> = sqlx::query_scalar(early)
        .bind(nanoseconds(now))
        .fetch_all(&mut *transaction)
        .await?;
    if endpoints.is_empty() {
        return Ok(0);
    }
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    lane::hold(&mut transaction, &endpoints).await?;
    let rows: Vec<delivery::Columns> = sqlx::query_as(concat!(
        "SELECT ",
        columns!(),
        " FROM webhook_ready WHERE state = 'ready' AND due_at > $1 AND endpoint = ANY($2)"
    ))
    .bind(nanoseconds(now))
    .bind(&endpoints)
    .fetch_all(&mut *transaction)
    .await?;
    let mut pulled: Vec<Delivery> = rows
        .iter()
        .filter_map(|row| delivery::from_columns(row).ok())
        .collect();
    pulled.retain_mut(|delivery| delivery.pull_forward(now));
    delivery::update(&mut transaction, &pulled.iter().collect::<Vec<_>>()).await?;
    transaction.commit().await?;
    Ok(pulled.len() as u64)
}
