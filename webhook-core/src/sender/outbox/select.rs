//! Which deliveries to list or to replay.

use std::time::SystemTime;

use crate::{
    event::EventId,
    sender::{Delivery, DeliveryId, DeliveryState, EndpointId},
};

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
