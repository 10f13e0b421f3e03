//! Rows of deliveries and events.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use webhook_core::event::EventId;
use webhook_core::sender::{Delivery, DeliveryId, FailureReason, InstanceId, StoredEvent};

use crate::column::{Number, Term, Time};
use crate::database::DatabaseError;

pub(super) fn event(connection: &Connection, id: &EventId) -> Result<Option<StoredEvent>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT event_type, audience, created_at, body, trace FROM webhook_event WHERE id = ?1",
    )?;
    let event = statement.query_row([id.as_str()], |row| {
        let (Term(event_type), Term(audience), Time(created_at)) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let body = Bytes::from(row.get::<_, Vec<u8>>(3)?);
        // without a readable trace the event is still sent
        let trace = row.get::<_, String>(4).ok();
        let trace = trace.and_then(|trace| trace.parse().ok());
        Ok(StoredEvent {
            id: id.clone(),
            event_type,
            audience,
            created_at,
            body,
            trace,
        })
    });
    Ok(event.optional()?)
}

pub(super) fn insert(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), DatabaseError> {
    write(
        transaction,
        "INSERT INTO webhook_delivery (event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        delivery,
    )
}

pub(super) fn update(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), DatabaseError> {
    write(
        transaction,
        "UPDATE webhook_delivery
         SET state = ?3, due_at = ?4, attempts = ?5, fence = ?6, started_at = ?7, reason = ?8, crashes = ?9,
             owner = ?10
         WHERE event = ?1 AND endpoint = ?2",
        delivery,
    )
}

fn write(transaction: &Transaction<'_>, statement: &str, delivery: &Delivery) -> Result<(), DatabaseError> {
    transaction.prepare_cached(statement)?.execute((
        delivery.id.event.as_str(),
        delivery.id.endpoint.as_str(),
        delivery.state.as_str(),
        Time(delivery.due_at),
        delivery.attempts,
        Number(delivery.fence),
        Time(delivery.started_at),
        delivery.reason.map(FailureReason::as_str),
        delivery.crashes,
        delivery.owner.map(|owner| Number(owner.number())),
    ))?;
    Ok(())
}

pub(super) fn load(connection: &Connection, id: &DeliveryId) -> Result<Option<Delivery>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner
         FROM webhook_delivery WHERE event = ?1 AND endpoint = ?2",
    )?;
    Ok(statement
        .query_row([id.event.as_str(), id.endpoint.as_str()], from_row)
        .optional()?)
}

/// Reads the columns in the order of [`load`].
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let (Term(event), Term(endpoint), Term(state)) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (Time(due_at), Time(started_at), Number(fence)) = (row.get(3)?, row.get(6)?, row.get(5)?);
    let reason = row.get::<_, Option<_>>(7)?.map(|Term(reason)| reason);
    let owner = row.get::<_, Option<_>>(9)?;
    Ok(Delivery {
        id: DeliveryId { event, endpoint },
        state,
        due_at,
        attempts: row.get(4)?,
        fence,
        owner: owner.map(|Number(number)| InstanceId::new(number)),
        started_at,
        reason,
        crashes: row.get(8)?,
    })
}
