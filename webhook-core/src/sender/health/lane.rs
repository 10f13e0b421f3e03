//! Row of an endpoint in an outbox.

use std::{
    num::NonZeroU32,
    time::{Duration, SystemTime},
};

use http::StatusCode;

use super::{EndpointHealth, HealthEvent, Signal};
use crate::{
    ports::TransportErrorKind,
    sender::{Attempt, AttemptResult, Disposition, FailureReason, Settled, Settlement, Standing},
};

/// State of an endpoint in the outbox, changed by settlements.
///
/// The order in which endpoints take turns is not part of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lane {
    /// Time until which no delivery of the endpoint is leased: `Retry-After` of the receiver, or
    /// the pause of the circuit breaker.
    pub held_until: Option<SystemTime>,
    /// Health of the endpoint.
    pub health: EndpointHealth,
    /// Bulkhead of the endpoint, by its last outcome.
    pub standing: Standing,
    /// Rate of the endpoint in deliveries a second, as the last attempt found it. It also limits
    /// the number of leased deliveries.
    pub rate: Option<NonZeroU32>,
    /// Time at which the attempts until now are spent at this rate. `held_until` is at least this
    /// time.
    pub paced_until: Option<SystemTime>,
}

impl Lane {
    /// Applies a settlement to the endpoint, after
    /// [`Delivery::settle`](crate::sender::Delivery::settle) has returned `settled`.
    ///
    /// - Each attempt uses one interval of the rate. The endpoint is held until the intervals of
    ///   all attempts are over (the generic cell rate algorithm).
    /// - A hold is extended and never shortened, also by a stale settlement.
    /// - A stale settlement changes neither health nor standing, so a repeated call changes
    ///   nothing.
    /// - A settlement that reports the endpoint as disabled resets health and standing, even if it
    ///   is stale. An endpoint that is enabled again therefore starts without its old failures.
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
        self.pace(settlement.rate, attempt.started_at);
        let now = attempt.started_at.checked_add(attempt.duration)?;
        let event = self
            .health
            .observe(signal(settlement, attempt), attempt.started_at, now);
        if let Some(HealthEvent::BreakerOpened { until }) = event {
            self.held_until = self.held_until.max(Some(until));
        }
        event
    }

    fn pace(&mut self, rate: Option<NonZeroU32>, started_at: SystemTime) {
        let interval = rate.map(|rate| Duration::from_secs(1) / rate.get());
        let begin = self.paced_until.map_or(started_at, |until| until.max(started_at));
        self.rate = rate;
        self.paced_until = interval.and_then(|interval| begin.checked_add(interval));
        self.held_until = self.held_until.max(self.paced_until);
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
