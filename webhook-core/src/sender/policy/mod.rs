//! The delivery engine: what to do with a delivery that came up, and what its attempt means, as pure decisions.
//!
//! [`DeliveryPolicy::admit`] says whether a leased delivery is sent at all, [`DeliveryPolicy::after_attempt`] what its
//! outcome makes of it, [`DeliveryPolicy::postpone`] what a store that fails does. Each gives a [`DeliveryDecision`], a value that names every effect; nothing is stored, sent or timed here.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use http::StatusCode;
//! use webhook_core::sender::{Delivery, DeliveryId, DeliveryPolicy, Disposition, AttemptOutcome};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let id = DeliveryId { event: "evt_1".parse()?, endpoint: "ep_1".parse()? };
//! let delivery = Delivery::new(id, now);
//!
//! // a 500 that asks for two minutes gets them, although the schedule would come back after about one
//! let outcome = AttemptOutcome::Answered {
//!     status: StatusCode::INTERNAL_SERVER_ERROR,
//!     retry_after: Some(Duration::from_secs(120)),
//! };
//! let decision = DeliveryPolicy::default().after_attempt(&delivery, &outcome, now, u64::MAX / 2);
//! assert_eq!(decision.disposition, Disposition::Retry { due_at: now + Duration::from_secs(120) });
//! assert!(decision.spent);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::StatusCode;

use super::{
    Attempt, AttemptClass, AttemptOutcome, Delivery, Disposition, Endpoint, EndpointState, FailureReason,
    Schedule, Settlement, classify, schedule::jittered,
};
use crate::ports::TransportErrorKind;

const DEFAULT_LIFETIME: Duration = Duration::from_secs(72 * 60 * 60);

/// What the deadlines of the exchanges, and leases that were lost, may add to a schedule.
const LIFETIME_MARGIN: Duration = Duration::from_secs(60 * 60);

/// How long an endpoint that answers 429 without a `Retry-After` is left alone, more or less.
const THROTTLE_PAUSE: Duration = Duration::from_secs(60);

/// How soon it is noticed that a paused endpoint is enabled again.
const PAUSE_CHECK: Duration = Duration::from_secs(60);

/// How soon an endpoint that could not be read, or not be disabled, is asked for again.
const STORE_PAUSE: Duration = Duration::from_secs(10);

type Classification = Arc<dyn Fn(&AttemptOutcome) -> AttemptClass + Send + Sync>;

/// Schedule, lifetime and classification: all that decides on a delivery.
#[derive(Clone)]
pub struct DeliveryPolicy {
    schedule: Schedule,
    lifetime: Duration,
    classification: Classification,
}

/// Decision on a leased delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DeliveryDecision {
    /// The delivery's part.
    pub disposition: Disposition,
    /// Whether one attempt of the schedule is used up.
    pub spent: bool,
    /// Until when the whole endpoint is left alone.
    pub hold_endpoint_until: Option<SystemTime>,
    /// Whether the endpoint is to be disabled.
    pub disable_endpoint: bool,
}

impl DeliveryDecision {
    const fn unsent(disposition: Disposition) -> Self {
        Self {
            disposition,
            spent: false,
            hold_endpoint_until: None,
            disable_endpoint: false,
        }
    }

    const fn spent(disposition: Disposition) -> Self {
        Self {
            spent: true,
            ..Self::unsent(disposition)
        }
    }

    /// The settlement of a lease by this decision, with the log row of its attempt.
    #[must_use]
    pub fn settle(self, leased: &Delivery, attempt: Option<Attempt>) -> Settlement {
        Settlement {
            delivery: leased.id.clone(),
            fence: leased.fence,
            disposition: self.disposition,
            spent: self.spent,
            hold_endpoint_until: self.hold_endpoint_until,
            attempt,
        }
    }
}

impl DeliveryPolicy {
    /// The usual classification, on this schedule.
    ///
    /// The lifetime is 72 hours, or an hour more than the schedule can take where that is longer.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        let lifetime = DEFAULT_LIFETIME.max(schedule.longest_span() + LIFETIME_MARGIN);
        Self {
            schedule,
            lifetime,
            classification: Arc::new(classify),
        }
    }

    /// How long after its acceptance, or its replay, a message may still be sent.
    ///
    /// What is shorter than the schedule cuts it off. A receiver must remember ids for at least as long.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// Replaces the meaning of outcomes. [`classify`] is the usual one, to fall back on.
    #[must_use]
    pub fn with_classification(
        self,
        classification: impl Fn(&AttemptOutcome) -> AttemptClass + Send + Sync + 'static,
    ) -> Self {
        Self {
            classification: Arc::new(classification),
            ..self
        }
    }

    /// When attempts are made.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// How long a message may be sent.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Whether a delivery that came up is sent, and to whom; otherwise what becomes of it. `endpoint` is the one it is for, if
    /// that is still registered.
    ///
    /// # Errors
    ///
    /// The decision on a delivery that is not sent: its endpoint is unknown, disabled or paused, its lifetime is over, or the
    /// lease ended before the request could leave, so that another dispatcher may have it by now.
    pub fn admit<'e>(
        &self,
        delivery: &Delivery,
        endpoint: Option<&'e Endpoint>,
        now: SystemTime,
    ) -> Result<&'e Endpoint, DeliveryDecision> {
        let failed = |reason| Err(DeliveryDecision::unsent(Disposition::Failed(reason)));
        let Some(endpoint) = endpoint else {
            return failed(FailureReason::EndpointUnknown);
        };
        match endpoint.state {
            EndpointState::Disabled => failed(FailureReason::EndpointDisabled),
            EndpointState::Paused => {
                let due_at = later(now, PAUSE_CHECK);
                let held = DeliveryDecision::unsent(Disposition::Held { due_at });
                Err(DeliveryDecision {
                    hold_endpoint_until: Some(due_at),
                    ..held
                })
            }
            EndpointState::Enabled if self.is_over(delivery, now) => failed(FailureReason::LifetimeExpired),
            EndpointState::Enabled if delivery.lease_is_over(now) => {
                Err(DeliveryDecision::unsent(Disposition::Held { due_at: now }))
            }
            EndpointState::Enabled => Ok(endpoint),
        }
    }

    /// What an attempt, whose outcome was known at `now`, means for its delivery and endpoint.
    ///
    /// `jitter` is a uniformly random number. It spreads our own part of a delay, never what the receiver asked for.
    #[must_use]
    pub fn after_attempt(
        &self,
        delivery: &Delivery,
        outcome: &AttemptOutcome,
        now: SystemTime,
        jitter: u64,
    ) -> DeliveryDecision {
        let asked = outcome.retry_after().unwrap_or_default();
        match (self.classification)(outcome) {
            AttemptClass::Acked => DeliveryDecision::spent(Disposition::Acked),
            AttemptClass::PermanentFailure => {
                DeliveryDecision::spent(Disposition::Failed(rejection(outcome)))
            }
            AttemptClass::Disable => DeliveryDecision {
                disable_endpoint: true,
                ..DeliveryDecision::spent(Disposition::Failed(FailureReason::EndpointGone))
            },
            AttemptClass::Throttled => {
                let due_at = later(now, jittered(THROTTLE_PAUSE, jitter).max(asked));
                let held = self.unless_expired(delivery, Disposition::Held { due_at }, due_at);
                DeliveryDecision {
                    hold_endpoint_until: Some(due_at),
                    ..DeliveryDecision::unsent(held)
                }
            }
            AttemptClass::Retry => DeliveryDecision {
                hold_endpoint_until: unavailable(outcome).map(|asked| later(now, asked)),
                ..DeliveryDecision::spent(self.retry(delivery, later(now, asked), now, jitter))
            },
        }
    }

    /// What becomes of a delivery whose endpoint the store could not read, or not disable after a 410.
    ///
    /// That is no fault of the receiver: the delivery waits ten seconds and spends no attempt, and so does whatever else is for
    /// this endpoint. Its lifetime bounds how often.
    ///
    /// It is an outcome like any other, and clears the count of crashes: a delivery that kills its dispatchers is quarantined only
    /// where its endpoint can be read for [so many leases](super::Dispatcher::with_quarantine_after) in a row.
    #[must_use]
    pub fn postpone(&self, delivery: &Delivery, now: SystemTime) -> DeliveryDecision {
        let due_at = later(now, STORE_PAUSE);
        let held = self.unless_expired(delivery, Disposition::Held { due_at }, due_at);
        DeliveryDecision {
            hold_endpoint_until: Some(due_at),
            ..DeliveryDecision::unsent(held)
        }
    }

    fn retry(
        &self,
        delivery: &Delivery,
        not_before: SystemTime,
        now: SystemTime,
        jitter: u64,
    ) -> Disposition {
        match self
            .schedule
            .delay_after(delivery.attempts.saturating_add(1), jitter)
        {
            None => Disposition::Failed(FailureReason::AttemptsExhausted),
            Some(delay) => {
                let due_at = later(now, delay).max(not_before);
                self.unless_expired(delivery, Disposition::Retry { due_at }, due_at)
            }
        }
    }

    /// Waiting for a moment at which it could not be sent any more would only hide the failure.
    fn unless_expired(&self, delivery: &Delivery, waiting: Disposition, due_at: SystemTime) -> Disposition {
        if self.is_over(delivery, due_at) {
            Disposition::Failed(FailureReason::LifetimeExpired)
        } else {
            waiting
        }
    }

    /// Whether the lifetime has passed at `time`; one that reaches beyond the end of the clock never does.
    fn is_over(&self, delivery: &Delivery, time: SystemTime) -> bool {
        let expiry = delivery.started_at.checked_add(self.lifetime);
        expiry.is_some_and(|expiry| expiry <= time)
    }
}

impl Default for DeliveryPolicy {
    /// The default schedule and classification, and a lifetime of 72 hours.
    fn default() -> Self {
        Self::new(Schedule::default())
    }
}

impl fmt::Debug for DeliveryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryPolicy")
            .field("schedule", &self.schedule)
            .field("lifetime", &self.lifetime)
            .finish_non_exhaustive()
    }
}

fn rejection(outcome: &AttemptOutcome) -> FailureReason {
    match outcome {
        AttemptOutcome::Failed(TransportErrorKind::RefusedAddress) => FailureReason::AddressRefused,
        _ => FailureReason::Rejected,
    }
}

/// The wait that a receiver asks of everybody, not only of this message: 503 with a `Retry-After`.
fn unavailable(outcome: &AttemptOutcome) -> Option<Duration> {
    match outcome {
        AttemptOutcome::Answered {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after,
        } => retry_after.filter(|asked| !asked.is_zero()),
        _ => None,
    }
}

/// Times near the end of the clock stay where they are.
fn later(time: SystemTime, wait: Duration) -> SystemTime {
    time.checked_add(wait).unwrap_or(time)
}

#[cfg(test)]
mod tests;
