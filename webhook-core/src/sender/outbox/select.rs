//! Which deliveries to list or to replay.

use std::time::SystemTime;

use super::{Period, StoredEvent};
use crate::{
    event::EventId,
    sender::{Delivery, DeliveryId, DeliveryState, EndpointId},
};

/// Which deliveries: all conditions must hold, and the default has none.
///
/// What failed of the events of one hour:
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use webhook_core::sender::DeliveryFilter;
///
/// let ten = SystemTime::UNIX_EPOCH + Duration::from_secs(36_000);
/// let eleven = ten + Duration::from_secs(3_600);
/// let filter = DeliveryFilter::failed().with_created(ten..eleven);
/// assert_eq!((filter.created.from, filter.created.before), (Some(ten), Some(eleven)));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeliveryFilter {
    /// Only of this event.
    pub event: Option<EventId>,
    /// Only to this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Only in one of these states; empty for any.
    pub states: Vec<DeliveryState>,
    /// Only of events that were created in this, by the time they bear themselves ([`StoredEvent::created_at`]).
    ///
    /// It is the time that the receiver reads in the body and the host has in its own records, so both ends mean the same
    /// events by it, and it never changes: neither retries, which end a day or two later, nor a replay move an event to another
    /// period. An event that is sent long after it happened is found by when it happened.
    pub created: Period,
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

    /// Only deliveries of events that were created in this period, such as `ten..eleven` or `ten..`.
    #[must_use]
    pub fn with_created(self, period: impl Into<Period>) -> Self {
        Self {
            created: period.into(),
            ..self
        }
    }

    /// Whether a delivery of this event fulfils every condition.
    #[must_use]
    pub fn matches(&self, delivery: &Delivery, event: &StoredEvent) -> bool {
        self.event
            .as_ref()
            .is_none_or(|event| *event == delivery.id.event)
            && self
                .endpoint
                .as_ref()
                .is_none_or(|endpoint| *endpoint == delivery.id.endpoint)
            && (self.states.is_empty() || self.states.contains(&delivery.state))
            && self.created.contains(event.created_at)
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
