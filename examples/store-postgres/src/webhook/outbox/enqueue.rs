//! Storing an event with its deliveries, also in the caller's own transaction.

use std::collections::BTreeSet;

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use webhook_core::sender::{Delivery, Enqueue, Enqueued};

use super::{delivery, lane};
use crate::column::nanoseconds;
use crate::database::{DatabaseError, DatabaseErrorKind, begin};

pub(super) async fn enqueue(pool: &PgPool, enqueue: &Enqueue) -> Result<Enqueued, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let enqueued = enqueue_in(&mut transaction, enqueue).await?;
    transaction.commit().await?;
    Ok(enqueued)
}

/// Stores an event with its deliveries in the caller's own transaction: the event is there exactly when the caller's rows are.
///
/// The first event ever for an endpoint makes its lane, and two transactions that do so wait for each other: commit soon.
///
/// # Errors
///
/// [`DatabaseError`]; the transaction can then only be rolled back, and all of it may be repeated when the error
/// [is transient](DatabaseErrorKind::is_transient).
///
/// # Examples
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::SystemTime;
/// use store_postgres::{Database, outbox, sqlx};
/// use webhook_core::event::Envelope;
/// use webhook_core::sender::{EndpointStore, Enqueued, fan_out};
///
/// let database = Database::connect("postgres://postgres@127.0.0.1:5432/desk").await?;
/// database.migrate("desk", &["CREATE TABLE charge (id TEXT PRIMARY KEY)"]).await?;
///
/// let now = SystemTime::now();
/// let event = Envelope::new(
///     "evt_1".parse()?, "charge.created".parse()?, "1".parse()?, now, br#"{"id":"ch_1"}"#,
/// )?;
/// let endpoints = database.subscribed(event.event_type()).await?;
/// let enqueue = fan_out(event, &endpoints, now);
///
/// let mut transaction = database.pool().begin().await?;
/// sqlx::query("INSERT INTO charge (id) VALUES ('ch_1')").execute(&mut *transaction).await?;
/// assert_eq!(outbox::enqueue_in(&mut transaction, &enqueue).await?, Enqueued::Enqueued);
/// transaction.commit().await?;
/// # Ok(())
/// # }
/// ```
pub async fn enqueue_in(
    transaction: &mut Transaction<'_, Postgres>,
    enqueue: &Enqueue,
) -> Result<Enqueued, DatabaseError> {
    if !insert_event(transaction, enqueue).await? {
        return stored_before(transaction, enqueue).await;
    }
    let deliveries: Vec<&Delivery> = enqueue.deliveries.iter().collect();
    if !deliveries.is_empty() {
        let endpoints: BTreeSet<_> = deliveries.iter().map(|delivery| &delivery.id.endpoint).collect();
        lane::open(transaction, endpoints).await?;
        delivery::insert(transaction, &deliveries).await?;
    }
    Ok(Enqueued::Enqueued)
}

/// Whether the id was free. Waits for whoever is about to take it.
async fn insert_event(connection: &mut PgConnection, enqueue: &Enqueue) -> Result<bool, DatabaseError> {
    let event = &enqueue.event;
    let inserted = sqlx::query(
        "INSERT INTO webhook_event (id, event_type, created_at, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(event.id.as_str())
    .bind(event.event_type.as_str())
    .bind(nanoseconds(event.created_at))
    .bind(&event.body[..])
    .execute(connection)
    .await?;
    Ok(inserted.rows_affected() > 0)
}

async fn stored_before(connection: &mut PgConnection, enqueue: &Enqueue) -> Result<Enqueued, DatabaseError> {
    let event = &enqueue.event;
    let is_same = sqlx::query_scalar("SELECT event_type = $2 AND body = $3 FROM webhook_event WHERE id = $1")
        .bind(event.id.as_str())
        .bind(event.event_type.as_str())
        .bind(&event.body[..])
        .fetch_optional(connection)
        .await?;
    match is_same {
        Some(true) => Ok(Enqueued::Duplicate),
        Some(false) => Ok(Enqueued::Conflict),
        None => Err(DatabaseError::new(
            DatabaseErrorKind::Busy,
            "the event of this id went away meanwhile",
        )),
    }
}
