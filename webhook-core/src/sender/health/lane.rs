//! Row of an outbox for each endpoint.

use std::time::SystemTime;

use http::StatusCode;

use super::{EndpointHealth, HealthEvent, Signal};
use crate::{
    ports::TransportErrorKind,
    sender::{Attempt, AttemptResult, Disposition, FailureReason, Settled, Settlement, Standing},
};

/// State of an endpoint in the outbox, changed by settlements.
///
/// The outbox keeps the turns of the endpoints separately.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lane {
    /// Time until which no delivery of the endpoint is leased: `Retry-After` of the receiver, or
    /// the pause of the circuit breaker.
    pub held_until: Option<SystemTime>,
    /// Health of the endpoint.
    pub health: EndpointHealth,
    /// Bulkhead of the endpoint, by its last outcome.
    pub standing: Standing,
}

impl Lane {
    /// Applies a settlement to the endpoint, after
    /// [`Delivery::settle`](crate::sender::Delivery::settle) has returned `settled`.
    ///
    /// - A hold is extended and never shortened, also by a stale settlement.
    /// - A stale settlement changes neither health nor standing, so a repeated call changes
    ///   nothing.
    /// - A settlement that reports a disabled endpoint resets both, whichever lease it has. An
    ///   endpoint that is enabled again starts without its old failures.
    pub fn settle(&mut self, settlement: &Settlement, settled: Settled) -> Option<HealthEvent> {
        if settled == Settled::Unknown {
            return None;
        }
        self.held_until = self.held_until.max(settlement.hold_endpoint_until);
        if settlement.disposition == Disposition::Failed(FailureReason::EndpointDisabled) {
            (self.health, self.standing) = Default::default();
            return None;
        }
        let attempt = settlement
            .attempt
            .as_ref()
            .filter(|_| settled != Settled::Stale)?;
        self.standing = Standing::after(attempt);
        let now = attempt.started_at.checked_add(attempt.duration)?;
        let event = self
            .health
            .observe(signal(settlement, attempt), attempt.started_at, now);
        if let Some(HealthEvent::BreakerOpened { until }) = event {
            self.held_until = self.held_until.max(Some(until));
        }
        event
    }
}

fn signal(settlement: &Settlement, attempt: &Attempt) -> Signal {
    match (settlement.disposition, &attempt.result) {
        (Disposition::Acked, _) => Signal::Delivered,
        // a 410 is a rejection, also if the endpoint could not be disabled and no attempt is
        // counted
        (_, AttemptResult::Answered { status, .. }) if *status == StatusCode::GONE => Signal::Rejected,
        _ if !settlement.spent => Signal::Throttled,
        (Disposition::Failed(FailureReason::Rejected | FailureReason::EndpointGone), _) => Signal::Rejected,
        (_, AttemptResult::Failed { kind, .. }) => Signal::Failed {
            congested: *kind == TransportErrorKind::Timeout,
        },
        (_, AttemptResult::Answered { status, .. }) => Signal::Failed {
            congested: is_congestion(*status),
        },
    }
}

fn is_congestion(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    )
}
