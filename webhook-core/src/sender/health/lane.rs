//! What an outbox keeps for each endpoint.

use std::time::SystemTime;

use http::StatusCode;

use super::{EndpointHealth, HealthEvent, Signal};
use crate::{
    ports::TransportErrorKind,
    sender::{Attempt, AttemptResult, Disposition, FailureReason, Settled, Settlement},
};

/// The part of an endpoint's row in the outbox that outcomes change. Whose turn it is, the outbox knows beside it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lane {
    /// Until when none of the endpoint's deliveries is leased: what the receiver asked for, or a pause of the breaker.
    pub held_until: Option<SystemTime>,
    /// How the endpoint does.
    pub health: EndpointHealth,
}

impl Lane {
    /// Takes in what a settlement says about the endpoint, after [`Delivery::settle`](crate::sender::Delivery::settle) has said
    /// what came of it.
    ///
    /// A hold is extended and never shortened, even by a lease that was lost; the health only learns from what counted, so that
    /// a repeated call teaches it nothing twice. A settlement that found the endpoint disabled has it start anew, whoever holds
    /// the lease: should it be enabled again, nothing of before is held against it.
    pub fn settle(&mut self, settlement: &Settlement, settled: Settled) -> Option<HealthEvent> {
        if settled == Settled::Unknown {
            return None;
        }
        self.held_until = self.held_until.max(settlement.hold_endpoint_until);
        if settlement.disposition == Disposition::Failed(FailureReason::EndpointDisabled) {
            self.health = EndpointHealth::default();
            return None;
        }
        let attempt = settlement
            .attempt
            .as_ref()
            .filter(|_| settled != Settled::Stale)?;
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
        // it wants nothing more, also where that could not be written and has spent nothing
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
