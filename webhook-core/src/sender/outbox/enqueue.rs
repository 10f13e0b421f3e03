//! One event and its deliveries, on their way into the outbox.

use std::time::SystemTime;

use bytes::Bytes;

use crate::{
    event::{Envelope, EventId, EventType},
    sender::{Delivery, DeliveryId, Endpoint, EndpointId},
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

impl Enqueue {
    /// The rows for one event to these endpoints, due at once: for a store that has found itself who
    /// [gets](Endpoint::subscribes_to) it. [`fan_out`] decides that too.
    #[must_use]
    pub fn to(event: StoredEvent, endpoints: impl IntoIterator<Item = EndpointId>, now: SystemTime) -> Self {
        let delivery = |endpoint| {
            let event = event.id.clone();
            Delivery::new(DeliveryId { event, endpoint }, now)
        };
        Self {
            deliveries: endpoints.into_iter().map(delivery).collect(),
            event,
        }
    }
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
        .filter_map(|endpoint| endpoint.delivery_of(&event.id, &event.event_type, now))
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
