//! The outbox: where events wait until every endpoint has them.
//!
//! [`Outbox`] is the port; [`fan_out`] makes the rows of one event. A host with a SQL store calls `fan_out` itself and has the
//! store write the rows inside the host's own transaction, so that the event is there exactly when the business row is:
//!
//! ```text
//! let endpoints = endpoints.subscribed(&event.event_type).await?;   // before the transaction
//! let enqueue = fan_out(event, &endpoints, now);                    // pure
//! insert_charge(&tx, …)?;
//! store::enqueue_in(&tx, &enqueue)?;                                // same transaction
//! ```
//!
//! A host without one calls [`Dispatcher::send`](super::Dispatcher::send).

use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Attempt, Delivery, DeliveryId, DeliveryState, Endpoint, EndpointId, Settled, Settlement};
use crate::{
    event::{Envelope, EventId, EventType},
    ports::StoreError,
};

/// An event as an outbox keeps it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredEvent {
    /// Also the `Webhook-Id`, the same over all attempts and replays.
    pub id: EventId,
    /// What endpoints subscribe to.
    pub event_type: EventType,
    /// When it happened.
    pub created_at: SystemTime,
    /// The exact bytes that are signed and sent. Keep them as bytes: a JSON column would give back others.
    pub body: Bytes,
}

impl From<Envelope> for StoredEvent {
    fn from(envelope: Envelope) -> Self {
        Self {
            id: envelope.id().clone(),
            event_type: envelope.event_type().clone(),
            created_at: envelope.created(),
            body: envelope.into_bytes(),
        }
    }
}

/// One event and its deliveries, to be written together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Enqueue {
    /// The event.
    pub event: StoredEvent,
    /// One for each endpoint that gets it; none is fine.
    pub deliveries: Vec<Delivery>,
}

/// The rows for one event: a delivery for each endpoint that subscribes to its type and is not disabled.
///
/// Endpoints that are paused get theirs too: it waits for them.
#[must_use]
pub fn fan_out<'a>(
    event: impl Into<StoredEvent>,
    endpoints: impl IntoIterator<Item = &'a Endpoint>,
    now: SystemTime,
) -> Enqueue {
    let event = event.into();
    let deliveries = endpoints
        .into_iter()
        .filter(|endpoint| endpoint.subscribes_to(&event.event_type))
        .map(|endpoint| {
            let (event, endpoint) = (event.id.clone(), endpoint.id.clone());
            Delivery::new(DeliveryId { event, endpoint }, now)
        })
        .collect();
    Enqueue { event, deliveries }
}

/// What came of an enqueue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Enqueued {
    /// The event and all its deliveries are stored.
    Enqueued,
    /// This very event is stored already; nothing was written. A producer may repeat itself safely.
    Duplicate,
    /// Another event is stored under this id: another type or other bytes. Nothing was written.
    Conflict,
}

/// How much to lease, and for how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseRequest {
    /// The present.
    pub now: SystemTime,
    /// When the leases end unless they are settled before.
    pub until: SystemTime,
    /// How many deliveries at most.
    pub limit: usize,
    /// How many deliveries of one endpoint may be under lease at a time, those leased before included.
    pub per_endpoint: usize,
}

/// A delivery under lease, with what is to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leased {
    /// The delivery as it is after the lease: its `fence` is the one to settle with.
    pub delivery: Delivery,
    /// The event.
    pub event: StoredEvent,
}

/// Which deliveries: all conditions must hold, and the default has none.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeliveryFilter {
    /// Only of this event.
    pub event: Option<EventId>,
    /// Only to this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Only in one of these states; empty for any.
    pub states: Vec<DeliveryState>,
}

impl DeliveryFilter {
    /// Deliveries whose attempts or time ran out.
    #[must_use]
    pub fn dead_letters() -> Self {
        Self::in_states([DeliveryState::DeadLetter])
    }

    /// Everything that ended without a 2xx: dead letters and permanent failures.
    #[must_use]
    pub fn failed() -> Self {
        Self::in_states([DeliveryState::DeadLetter, DeliveryState::PermanentFailure])
    }

    /// Deliveries in any of these states.
    #[must_use]
    pub fn in_states(states: impl IntoIterator<Item = DeliveryState>) -> Self {
        Self {
            states: states.into_iter().collect(),
            ..Self::default()
        }
    }

    /// This delivery, in whatever state.
    #[must_use]
    pub fn one(delivery: &DeliveryId) -> Self {
        Self::default()
            .with_event(delivery.event.clone())
            .with_endpoint(delivery.endpoint.clone())
    }

    /// Only deliveries of this event.
    #[must_use]
    pub fn with_event(self, event: EventId) -> Self {
        Self {
            event: Some(event),
            ..self
        }
    }

    /// Only deliveries to this endpoint.
    #[must_use]
    pub fn with_endpoint(self, endpoint: EndpointId) -> Self {
        Self {
            endpoint: Some(endpoint),
            ..self
        }
    }

    /// Whether a delivery fulfils every condition.
    #[must_use]
    pub fn matches(&self, delivery: &Delivery) -> bool {
        self.event
            .as_ref()
            .is_none_or(|event| *event == delivery.id.event)
            && self
                .endpoint
                .as_ref()
                .is_none_or(|endpoint| *endpoint == delivery.id.endpoint)
            && (self.states.is_empty() || self.states.contains(&delivery.state))
    }
}

/// A part of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// Only what comes after this one; `None` from the beginning.
    pub after: Option<DeliveryId>,
    /// How many at most.
    pub limit: usize,
}

impl Default for Page {
    /// The first hundred.
    fn default() -> Self {
        Self {
            after: None,
            limit: 100,
        }
    }
}

/// What to send again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReplayRequest {
    /// Of the deliveries that match, those in a failed state are replayed.
    pub filter: DeliveryFilter,
    /// The present.
    pub now: SystemTime,
    /// Only count what would be replayed.
    pub dry_run: bool,
}

/// Keeps events and their deliveries until they are delivered, and afterwards for inspection.
///
/// # What an implementation must guarantee
///
/// - **Each verb is one atomic step.** Two calls never see each other's middle, and a crash leaves all of a verb or nothing.
/// - **Durable before it answers.** What [`enqueue`](Self::enqueue) and [`settle`](Self::settle) have answered survives a crash
///   of the machine.
/// - **The rules of a row are those of [`Delivery`].** Load the row, call [`Delivery::lease`], [`Delivery::settle`] or
///   [`Delivery::replay`], write the row, in one transaction.
/// - **Bytes stay bytes.** A body comes back exactly as it was given.
/// - Every verb may be repeated after an error.
///
/// The kit [`testing::outbox!`](crate::testing::outbox) checks all of this.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Stores an event with its deliveries, all or nothing, unless the id is taken.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the event may or may not be stored then, and repeating the call settles it.
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError>;

    /// Leases deliveries that are due, fairly between endpoints.
    ///
    /// - Due is a live delivery with `due_at <= now` whose endpoint is not held beyond `now`.
    /// - An endpoint gets at most `per_endpoint` leases minus those it has that are not over (`Leased` and `due_at > now`).
    /// - Endpoints take turns, one delivery a turn, until `limit`: first those that never had a turn, then the one whose last
    ///   turn is longest ago. Within an endpoint the order is `due_at`, then the id.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; what may have been leased becomes due again when its lease is over.
    async fn lease(&self, request: &LeaseRequest) -> Result<Vec<Leased>, StoreError>;

    /// Writes a batch of outcomes in one step and says what came of each, in the same order.
    ///
    /// For every settlement, stale ones included, `hold_endpoint_until` extends (never shortens) the hold of the endpoint, and
    /// the attempt is logged unless the log has that delivery and fence already. An unknown delivery leaves no trace.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; a repeated call answers `Stale` for what the first had written.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError>;

    /// The earliest moment at which something is due: over all live deliveries, the later of `due_at` and the endpoint's hold.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError>;

    /// The deliveries that match, by ascending id (bytewise: event, then endpoint).
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError>;

    /// The log of a delivery's attempts, by ascending fence.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError>;

    /// Replays every failed delivery that matches, all or nothing, and answers how many these are.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; repeating the call replays what is still failed.
    async fn replay(&self, request: &ReplayRequest) -> Result<u64, StoreError>;
}
