//! Outgoing events (W15), in `webhook_event`, `webhook_delivery`, `webhook_attempt` and
//! `webhook_lane`.
//!
//! A delivery is a narrow row that changes; an event with its body is a wide row that does not.
//! [`Delivery`](webhook_core::sender::Delivery) makes all decisions: each verb loads the row,
//! decides, and writes it back.

mod backlog;
mod delivery;
mod instance;
mod lane;
mod lease;
mod locks;
mod missing;
mod retention;
mod search;
mod settle;

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Transaction};
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Attempt, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, EndpointId, Enqueue, Enqueued,
    Heartbeat, InstanceId, Lane, LeaseRequest, Leases, Missing, MissingRequest, Outbox, Page, PurgeRequest,
    Receipt, ReplayRequest, Replayed, Retention, Settlement, StoredEvent, Turn, TurnRequest,
};

pub use self::backlog::{Backlog, backlog};
pub(crate) use self::locks::InstanceLocks;
use super::endpoints;
use crate::column::Time;
use crate::database::{Database, DatabaseError, DatabaseErrorKind};

#[async_trait]
impl Outbox for Database {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        Ok(self
            .write(move |transaction| enqueue_in(transaction, &enqueue))
            .await?)
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        let request = *request;
        Ok(self
            .write(move |transaction| lease::lease(transaction, &request))
            .await?)
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        Ok(self
            .write(move |transaction| settle_all(transaction, &settlements))
            .await?)
    }

    async fn turn(&self, request: TurnRequest) -> Result<Turn, StoreError> {
        let turn = self.write(move |transaction| -> Result<_, DatabaseError> {
            let receipts = settle_all(transaction, &request.settlements)?;
            let Some(request) = request.lease else {
                return Ok(Turn {
                    receipts,
                    ..Turn::default()
                });
            };
            let leases = lease::lease(transaction, &request)?;
            let next_due = if leases.leased.len() < request.limit {
                next_due(transaction)?
            } else {
                None
            };
            Ok(Turn {
                receipts,
                leases,
                next_due,
            })
        });
        Ok(turn.await?)
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        let locks = Arc::clone(&self.locks);
        let joined = self.write(move |transaction| -> Result<_, DatabaseError> {
            let joined = instance::join(transaction)?;
            locks.hold(joined);
            instance::free_ended(transaction, &locks)?;
            Ok(joined)
        });
        Ok(Some(joined.await?))
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        let locks = Arc::clone(&self.locks);
        let beats = self.write(move |transaction| -> Result<_, DatabaseError> {
            instance::beat(transaction, instance)?;
            instance::free_ended(transaction, &locks)?;
            instance::heartbeats(transaction)
        });
        Ok(beats.await?)
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        let locks = Arc::clone(&self.locks);
        let left = self.write(move |transaction| -> Result<_, DatabaseError> {
            let freed = instance::leave(transaction, instance, departure, now)?;
            if !instance::exists(transaction, instance)? {
                locks.remove(instance);
            }
            Ok(freed)
        });
        Ok(left.await?)
    }

    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self
            .write(move |transaction| instance::pull_forward(transaction, now))
            .await?)
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        Ok(self.read(next_due).await?)
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        Ok(self
            .read(move |connection| search::list(connection, &filter, &page))
            .await?)
    }

    async fn lane(&self, endpoint: &EndpointId) -> Result<Option<Lane>, StoreError> {
        let endpoint = endpoint.clone();
        let lane = self.read(move |connection| match lane::load(connection, &endpoint) {
            Err(error) if error.kind() == DatabaseErrorKind::Corrupt => Ok(None),
            lane => lane,
        });
        Ok(lane.await?)
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        let id = delivery.clone();
        Ok(self
            .read(move |connection| settle::attempts(connection, &id))
            .await?)
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        let request = request.clone();
        Ok(self
            .write(move |transaction| search::replay(transaction, &request))
            .await?)
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        let (endpoint, request) = (endpoint.clone(), request.clone());
        Ok(self
            .write(move |transaction| missing::replay(transaction, &endpoint, &request))
            .await?)
    }
}

#[async_trait]
impl Retention for Database {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        in_batches(self, request, retention::purge).await
    }

    async fn expunge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        in_batches(self, request, retention::expunge).await
    }
}

/// Runs a step on batches of events until the limit is reached or no event is left.
async fn in_batches(
    database: &Database,
    request: &PurgeRequest,
    step: fn(&Transaction<'_>, &PurgeRequest) -> Result<u64, DatabaseError>,
) -> Result<u64, StoreError> {
    let mut total = 0;
    loop {
        let left = request
            .limit
            .saturating_sub(usize::try_from(total).unwrap_or(usize::MAX));
        let batch = PurgeRequest {
            limit: left.min(retention::AT_ONCE),
            ..*request
        };
        let gone = database
            .write(move |transaction| step(transaction, &batch))
            .await?;
        total += gone;
        if gone == 0 || gone < batch.limit as u64 {
            return Ok(total);
        }
    }
}

/// Enqueues an event for every subscribed endpoint of its audience, in the caller's transaction.
///
/// The event and the caller's rows are committed together, and the subscriptions are read in this
/// transaction.
///
/// # Errors
///
/// [`DatabaseError`]; the verb must return it, so that all of it is rolled back.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::SystemTime;
/// use host_store_sqlite::{Database, DatabaseError, outbox};
/// use webhook_core::event::Envelope;
/// use webhook_core::sender::{Audience, Enqueued, StoredEvent};
///
/// let database = Database::open_in_memory()?;
/// database.migrate("desk", &["CREATE TABLE charge (id TEXT PRIMARY KEY) STRICT"]).await?;
///
/// let now = SystemTime::now();
/// let event = Envelope::new(
///     "evt_1".parse()?, "charge.created".parse()?, "1".parse()?, now, br#"{"id":"ch_1"}"#,
/// )?;
/// let event = StoredEvent::new(event, Audience::tenant("acme".parse()?));
/// let sent = database
///     .write(move |transaction| -> Result<Enqueued, DatabaseError> {
///         transaction.execute("INSERT INTO charge (id) VALUES ('ch_1')", ())?;
///         outbox::send_in(transaction, event, now)
///     })
///     .await?;
/// assert_eq!(sent, Enqueued::Enqueued);
/// # Ok(())
/// # }
/// ```
pub fn send_in(
    transaction: &Transaction<'_>,
    event: StoredEvent,
    now: SystemTime,
) -> Result<Enqueued, DatabaseError> {
    let subscribers = endpoints::subscribers(transaction, &event.event_type, &event.audience)?;
    enqueue_in(transaction, &Enqueue::to(event, subscribers, now))
}

/// Enqueues an event with deliveries that the caller chose, in the caller's transaction.
/// [`send_in`] chooses them by subscription.
///
/// # Errors
///
/// [`DatabaseError`]; the verb must return it, so that all of it is rolled back.
pub fn enqueue_in(transaction: &Transaction<'_>, enqueue: &Enqueue) -> Result<Enqueued, DatabaseError> {
    let event = &enqueue.event;
    if let Some(is_same) = is_stored(transaction, event)? {
        return Ok(if is_same {
            Enqueued::Duplicate
        } else {
            Enqueued::Conflict
        });
    }
    insert_event(transaction, event)?;
    for delivery in &enqueue.deliveries {
        delivery::insert(transaction, delivery)?;
        lane::open(transaction, &delivery.id.endpoint)?;
    }
    Ok(Enqueued::Enqueued)
}

/// Compares an event with the stored one of its id, if there is one. An expunged body is equal to
/// any.
fn is_stored(transaction: &Transaction<'_>, event: &StoredEvent) -> Result<Option<bool>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT event_type = ?2 AND audience = ?3 AND coalesce(body = ?4, TRUE) FROM webhook_event WHERE id = ?1",
    )?;
    let values = (
        event.id.as_str(),
        event.event_type.as_str(),
        event.audience.to_string(),
        &event.body[..],
    );
    Ok(statement.query_row(values, |row| row.get(0)).optional()?)
}

fn insert_event(transaction: &Transaction<'_>, event: &StoredEvent) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO webhook_event (id, event_type, audience, created_at, body, trace)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let created_at = Time(event.created_at);
    statement.execute((
        event.id.as_str(),
        event.event_type.as_str(),
        event.audience.to_string(),
        created_at,
        &event.body[..],
        event.trace.map(|trace| trace.to_string()),
    ))?;
    Ok(())
}

fn settle_all(
    transaction: &Transaction<'_>,
    settlements: &[Settlement],
) -> Result<Vec<Receipt>, DatabaseError> {
    settlements
        .iter()
        .map(|settlement| settle::settle(transaction, settlement))
        .collect()
}

fn next_due(connection: &Connection) -> Result<Option<SystemTime>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT min(max(due_at, coalesce(held_until, due_at)))
         FROM (SELECT held_until, (
                   SELECT min(due_at) FROM webhook_delivery INDEXED BY webhook_delivery_live
                   WHERE endpoint = lane.endpoint AND state IN ('ready', 'retry_scheduled', 'leased')
               ) AS due_at
               FROM webhook_lane AS lane)",
    )?;
    let due: Option<Time> = statement.query_row((), |row| row.get(0)).optional()?.flatten();
    Ok(due.map(|Time(at)| at))
}
