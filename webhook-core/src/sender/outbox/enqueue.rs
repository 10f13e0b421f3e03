//! Rows for one event and its deliveries.

use std::time::SystemTime;

use bytes::Bytes;

use crate::{
    event::{Envelope, EventId, EventType},
    sender::{Audience, Delivery, DeliveryId, Endpoint, EndpointId, TraceParent},
};

/// Event in an outbox.
///
/// [`new`](Self::new) takes an [`Envelope`]. A host whose receivers expect another body fills the
/// fields itself; the dispatcher sends `body` unchanged:
///
/// ```
/// use std::time::SystemTime;
///
/// use webhook_core::event::EventId;
/// use webhook_core::ports::OsEntropy;
/// use webhook_core::sender::{Audience, StoredEvent};
///
/// let event = StoredEvent {
///     id: EventId::generate(&OsEntropy),
///     event_type: "order.paid".parse()?,
///     audience: Audience::tenant("acme".parse()?),
///     created_at: SystemTime::now(),
///     body: r#"{"type":"order.paid","data":{"order":"7"}}"#.into(),
///     trace: None,
/// };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredEvent {
    /// Event id, sent as `Webhook-Id` with every attempt and replay.
    pub id: EventId,
    /// Type that endpoints subscribe to.
    pub event_type: EventType,
    /// Owners whose endpoints get the event.
    pub audience: Audience,
    /// Time of the event.
    pub created_at: SystemTime,
    /// Exact bytes that are signed and sent.
    ///
    /// Store them in a binary column: a JSON column may change them.
    pub body: Bytes,
    /// Position of the request that enqueued the event in its trace; each message continues the
    /// trace. Without it, messages have no `traceparent`.
    pub trace: Option<TraceParent>,
}

impl StoredEvent {
    /// Creates the event of this envelope for this audience.
    #[must_use]
    pub fn new(envelope: Envelope, audience: Audience) -> Self {
        Self {
            id: envelope.id().clone(),
            event_type: envelope.event_type().clone(),
            audience,
            created_at: envelope.created(),
            body: envelope.into_bytes(),
            trace: None,
        }
    }

    /// The event as part of the trace of the request that enqueues it; see the section on security
    /// of [`TraceParent`].
    #[must_use]
    pub fn in_trace(self, trace: Option<TraceParent>) -> Self {
        Self { trace, ..self }
    }
}

/// One event and its deliveries, to be written in one step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Enqueue {
    /// Event to store.
    pub event: StoredEvent,
    /// One delivery per endpoint; the list may be empty.
    pub deliveries: Vec<Delivery>,
}

impl Enqueue {
    /// Creates the rows for one event to these endpoints, due at `now`.
    ///
    /// Use this if the store has selected the [subscribers](Endpoint::subscribes_to) itself;
    /// [`fan_out`] selects them too. A delivery to an endpoint outside of the event's audience is
    /// not sent: it fails with [`OutsideAudience`](crate::sender::FailureReason::OutsideAudience).
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

/// Creates the rows for one event: a delivery for each endpoint that subscribes to its type and
/// belongs to its audience.
///
/// Disabled endpoints get no delivery. Deliveries to paused endpoints wait.
#[must_use]
pub fn fan_out<'a>(
    event: StoredEvent,
    endpoints: impl IntoIterator<Item = &'a Endpoint>,
    now: SystemTime,
) -> Enqueue {
    let deliveries = endpoints
        .into_iter()
        .filter_map(|endpoint| endpoint.delivery_of(&event.id, &event.event_type, &event.audience, now))
        .collect();
    Enqueue { event, deliveries }
}

/// Result of [`Outbox::enqueue`](super::Outbox::enqueue).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Enqueued {
    /// The event and all its deliveries are stored.
    Enqueued,
    /// The same event is stored already. Nothing was written, so a producer can retry safely.
    Duplicate,
    /// Another event with this id is stored, with another type, audience or body. Nothing was
    /// written. The traces are not compared: a retry has a trace of its own.
    Conflict,
}
