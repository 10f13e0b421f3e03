//! Operational events of a dispatcher as webhooks.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{Dispatcher, Handled};
use crate::{
    event::EventId,
    ports::StoreError,
    sender::{Enqueued, HealthEvent, OperationalEvent},
};

/// Minimum time between two events about the local clock.
const SKEW_INTERVAL: Duration = Duration::from_secs(600);

/// State of the announcements that the clones of a dispatcher share.
#[derive(Debug, Default)]
pub(super) struct Announcements {
    /// Monotonic time of the last event about the local clock.
    last_skew: Mutex<Option<Duration>>,
}

impl Announcements {
    /// Returns `true` if an event about the clock is due, at most every ten minutes.
    fn takes_skew(&self, monotonic: Duration) -> bool {
        let mut last = self.last_skew.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| monotonic.saturating_sub(last) >= SKEW_INTERVAL);
        if is_due {
            *last = Some(monotonic);
        }
        is_due
    }
}

impl Dispatcher {
    /// Sends [`OperationalEvent`]s as webhooks to the endpoints of the
    /// [operator](crate::sender::Owner::Operator). Default: off.
    ///
    /// - An event is stored after the outcome that it reports. A crash in between loses it; the
    ///   health and the state of the endpoint stay readable.
    /// - `endpoint.failing` is sent at each opening of the circuit breaker: after 1, 2, 4 … 60
    ///   minutes while the endpoint fails.
    /// - `clock.skewed` is sent at most every ten minutes.
    /// - There are no events about the operator's own endpoints.
    #[must_use]
    pub fn with_operational_events(self) -> Self {
        Self {
            announcements: Some(Arc::default()),
            ..self
        }
    }

    /// Stores an operational event for the endpoints of the operator, such as
    /// [`SecretRotated`](OperationalEvent::SecretRotated) after a rotation by the host.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown.
    pub async fn announce(&self, event: &OperationalEvent) -> Result<Enqueued, StoreError> {
        let id = EventId::generate(&*self.entropy);
        let event = event.to_event(id, self.clock.now());
        self.send(event.map_err(StoreError::unavailable)?).await
    }

    /// Events that the outcome of a delivery to a tenant's endpoint causes.
    pub(super) fn operational_events(&self, handled: &Handled) -> Vec<OperationalEvent> {
        let Some(announcements) = &self.announcements else {
            return Vec::new();
        };
        let endpoint = || handled.delivery.endpoint.clone();
        let health = match handled.health {
            Some(HealthEvent::BreakerOpened { until }) => Some(OperationalEvent::EndpointFailing {
                endpoint: endpoint(),
                retry_at: until,
            }),
            Some(HealthEvent::BreakerClosed) => {
                Some(OperationalEvent::EndpointRecovered { endpoint: endpoint() })
            }
            _ => None,
        };
        let disabled = handled.endpoint_disabled;
        let disabled = disabled.then(|| OperationalEvent::EndpointDisabled { endpoint: endpoint() });
        let skew = handled
            .skew
            .filter(|_| announcements.takes_skew(self.clock.monotonic()));
        let skew = skew.map(|skew| OperationalEvent::ClockSkewed { skew });
        health.into_iter().chain(disabled).chain(skew).collect()
    }
}
