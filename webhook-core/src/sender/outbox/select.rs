//! Filters and pages of deliveries.

use std::time::SystemTime;

use super::{Period, StoredEvent};
use crate::{
    event::EventId,
    sender::{Delivery, DeliveryId, DeliveryState, EndpointId},
};

/// Filter of deliveries. All conditions must hold; the default has none.
///
/// The failed deliveries of the events of one hour:
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
    /// Event of the deliveries.
    pub event: Option<EventId>,
    /// Endpoint of the deliveries.
    pub endpoint: Option<EndpointId>,
    /// States of the deliveries; empty for all states.
    pub states: Vec<DeliveryState>,
    /// Period in which the events were created ([`StoredEvent::created_at`]).
    ///
    /// Receivers find this time in the body, so sender and receiver can select the same events.
    /// Sending, retrying or replaying an event does not change its time.
    pub created: Period,
}

impl DeliveryFilter {
    /// Selects deliveries whose attempts or lifetime ran out, and quarantined ones.
    #[must_use]
    pub fn dead_letters() -> Self {
        Self::in_states([DeliveryState::DeadLetter])
    }

    /// Selects deliveries that ended without a 2xx: dead letters and permanent failures.
    #[must_use]
    pub fn failed() -> Self {
        Self::in_states([DeliveryState::DeadLetter, DeliveryState::PermanentFailure])
    }

    /// Selects deliveries in any of these states.
    #[must_use]
    pub fn in_states(states: impl IntoIterator<Item = DeliveryState>) -> Self {
        Self {
            states: states.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Selects one delivery in any state.
    #[must_use]
    pub fn one(delivery: &DeliveryId) -> Self {
        Self::default()
            .with_event(delivery.event.clone())
            .with_endpoint(delivery.endpoint.clone())
    }

    /// Restricts the filter to this event.
    #[must_use]
    pub fn with_event(self, event: EventId) -> Self {
        Self {
            event: Some(event),
            ..self
        }
    }

    /// Restricts the filter to this endpoint.
    #[must_use]
    pub fn with_endpoint(self, endpoint: EndpointId) -> Self {
        Self {
            endpoint: Some(endpoint),
            ..self
        }
    }

    /// Restricts the filter to events created in this period, such as `ten..eleven` or `ten..`.
    #[must_use]
    pub fn with_created(self, period: impl Into<Period>) -> Self {
        Self {
            created: period.into(),
            ..self
        }
    }

    /// Returns `true` if the delivery and its event meet all conditions.
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

/// Page of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// Last delivery of the previous page; `None` for the first page.
    pub after: Option<DeliveryId>,
    /// Maximum number of deliveries.
    pub limit: usize,
}

impl Default for Page {
    /// First page of 100 deliveries.
    fn default() -> Self {
        Self {
            after: None,
            limit: 100,
        }
    }
}

/// Arguments of [`Outbox::replay`](super::Outbox::replay).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReplayRequest {
    /// Filter; the matching deliveries in a failed state are replayed.
    pub filter: DeliveryFilter,
    /// If `true`, matching deliveries that were acknowledged are sent again too.
    pub acknowledged: bool,
    /// Last delivery of the previous call ([`Replayed::last`]); `None` to start with the first.
    pub after: Option<DeliveryId>,
    /// Maximum number of deliveries to replay, which bounds the duration of the call. 0 replays
    /// none.
    pub limit: usize,
    /// Current time.
    pub now: SystemTime,
    /// If `true`, only count the deliveries.
    pub dry_run: bool,
}

/// Result of [`Outbox::replay`](super::Outbox::replay).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Replayed {
    /// Number of deliveries that were replayed, or would be in a dry run; at most
    /// [`ReplayRequest::limit`].
    pub count: u64,
    /// Last of these deliveries by id; `None` if there are none.
    ///
    /// To replay the next ones, call again with it in [`ReplayRequest::after`]. A call without it
    /// starts with the first deliveries, and replays those again that have failed meanwhile.
    pub last: Option<DeliveryId>,
    /// `true` if the limit left out deliveries that match.
    pub has_more: bool,
}
