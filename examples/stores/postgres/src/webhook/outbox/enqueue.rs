//! Inserts an event with its deliveries, also in the caller's transaction.

use std::collections::HashSet;
use std::time::SystemTime;

use sqlx::{PgConnection, Postgres, Row, Transaction};
use webhook_core::sender::{Delivery, DeliveryState, Enqueue, Enqueued, StoredEvent};

use super::delivery::{self, batch, columns};
use crate::column::nanoseconds;
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::webhook::endpoints;

/// Enqueues an event for every subscribed endpoint of its audience, in the caller's transaction.
///
/// The event and the caller's rows are committed together. The subscriptions are read in this
/// transaction: an endpoint that another transaction is about to register does not get the event.
///
/// # Performance
///
/// The first event of an endpoint inserts its lane. Two transactions that do so wait for each
/// other, so commit soon.
///
/// # Errors
///
/// Returns [`DatabaseError`]; the transaction can then only be rolled back. The caller may repeat
/// all of it if the error [is transient](DatabaseErrorKind::is_transient).
///
/// # Examples
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::SystemTime;
/// use host_store_postgres::{Database, outbox, sqlx};
/// use webhook_core::event::Envelope;
/// use webhook_core::sender::{Audience, Enqueued, StoredEvent};
///
/// let database = Database::connect("postgres://postgres@127.0.0.1:5432/desk").await?;
/// database.migrate("desk", &["CREATE TABLE charge (id TEXT PRIMARY KEY)"]).await?;
///
/// let now = SystemTime::now();
/// let event = Envelope::new(
///     "evt_1".parse()?, "charge.created".parse()?, "1".parse()?, now, br#"{"id":"ch_1"}"#,
/// )?;
/// let event = StoredEvent::new(event, Audience::tenant("acme".parse()?));
/// let mut transaction = database.pool().begin().await?;
/// sqlx::query("INSERT INTO charge (id) VALUES ('ch_1')").execute(&mut *transaction).await?;
/// assert_eq!(outbox::send_in(&mut transaction, event, now).await?, Enqueued::Enqueued);
/// transaction.commit().await?;
/// # Ok(())
/// # }
/// ```
pub async fn send_in(
    transaction: &mut Transaction<'_, Postgres>,
    event: StoredEvent,
    now: SystemTime,
) -> Result<Enqueued, DatabaseError> {
    let subscribers = endpoints::subscribers(&mut **transaction, &event.event_type, &event.audience).await?;
    enqueue_on(transaction, &Enqueue::to(event, subscribers, now)).await
}

/// Enqueues an event with deliveries that the caller chose, in the caller's transaction.
/// [`send_in`] chooses them by subscription.
///
/// # Errors
///
/// As [`send_in`].
pub async fn enqueue_in(
    transaction: &mut Transaction<'_, Postgres>,
    enqueue: &Enqueue,
) -> Result<Enqueued, DatabaseError> {
    enqueue_on(transaction, enqueue).await
}

async fn enqueue_on(connection: &mut PgConnection, enqueue: &Enqueue) -> Result<Enqueued, DatabaseError> {
    if insert(connection, &[enqueue]).await?.is_empty() {
        stored_before(connection, enqueue).await
    } else {
        Ok(Enqueued::Enqueued)
    }
}

/// Inserts the events whose ids are free, with all their rows; returns these ids.
///
/// No id may stand twice. Waits for transactions that are inserting the same ids, in the order of
/// the ids.
pub(super) async fn insert(
    connection: &mut PgConnection,
    events: &[&Enqueue],
) -> Result<HashSet<String>, DatabaseError> {
    let deliveries: Vec<&Delivery> = events.iter().flat_map(|enqueue| &enqueue.deliveries).collect();
    // each row goes to the table of its state, also one that a host enqueues as finished
    let live = DeliveryState::ALL.into_iter().filter(|state| state.is_live());
    let live: Vec<&str> = live.map(DeliveryState::as_str).collect();
    let insert = sqlx::query(concat!(
        "WITH stored AS (
             INSERT INTO webhook_event (id, event_type, created_at, body, audience, trace)
             SELECT * FROM unnest($11::text[], $12::text[], $13::bigint[], $14::bytea[], $16::text[], $17::text[])
                 AS given (id, event_type, created_at, body, audience, trace) ORDER BY id COLLATE \"C\"
             ON CONFLICT (id) DO NOTHING RETURNING id
         ), batch AS MATERIALIZED (
             SELECT batch.*, state = ANY($15) AS live FROM ",
        batch!(),
        " WHERE batch.event IN (SELECT id FROM stored)
         ), lane AS (
             INSERT INTO webhook_lane (endpoint) SELECT DISTINCT endpoint COLLATE \"C\" FROM batch ORDER BY 1
             ON CONFLICT DO NOTHING
         ), ready AS (
             INSERT INTO webhook_ready (",
        columns!(),
        ") SELECT ",
        columns!(),
        " FROM batch WHERE live
         ), finished AS (
             INSERT INTO webhook_finished (",
        columns!(),
        ") SELECT ",
        columns!(),
        " FROM batch WHERE NOT live
         )
         SELECT id FROM stored"
    ));
    fn column<'a, T>(events: &[&'a Enqueue], of: impl Fn(&'a StoredEvent) -> T) -> Vec<T> {
        events.iter().map(|enqueue| of(&enqueue.event)).collect()
    }
    let inserted = delivery::bind(insert, &deliveries)
        .bind(column(events, |event| event.id.as_str()))
        .bind(column(events, |event| event.event_type.as_str()))
        .bind(column(events, |event| nanoseconds(event.created_at)))
        .bind(column(events, |event| &event.body[..]))
        .bind(live)
        .bind(column(events, |event| event.audience.to_string()))
        .bind(column(events, |event| event.trace.map(|trace| trace.to_string())))
        .fetch_all(connection)
        .await?;
    let ids = inserted.iter().map(|row| row.try_get(0));
    Ok(ids.collect::<Result<_, sqlx::Error>>()?)
}

/// Compares an event with the stored one of its id.
pub(super) async fn stored_before(
    connection: &mut PgConnection,
    enqueue: &Enqueue,
) -> Result<Enqueued, DatabaseError> {
    let event = &enqueue.event;
    // an expunged body is equal to any
    let is_same = sqlx::query_scalar(
        "SELECT event_type = $2 AND audience = $4 AND coalesce(body = $3, true) FROM webhook_event WHERE id = $1",
    )
    .bind(event.id.as_str())
    .bind(event.event_type.as_str())
    .bind(&event.body[..])
    .bind(event.audience.to_string())
    .fetch_optional(connection)
    .await?;
    match is_same {
        Some(true) => Ok(Enqueued::Duplicate),
        Some(false) => Ok(Enqueued::Conflict),
        None => Err(DatabaseError::new(
            DatabaseErrorKind::Busy,
            "the event of this id was purged meanwhile",
        )),
    }
}
