//! Delivery policy: pure decisions on leased deliveries and their attempts.
//!
//! - [`DeliveryPolicy::admit`] decides if a leased delivery is sent.
//! - [`DeliveryPolicy::after_attempt`] decides on the outcome of an attempt.
//! - [`DeliveryPolicy::postpone`] decides on a failure of the endpoint store.
//! - [`DeliveryPolicy::hold_for_skew`] decides on a 400 or 401 that a wrong local clock explains.
//! - [`DeliveryPolicy::after_panic`] decides on an exchange in which the host's code panicked.
//!
//! Each decision is a [`DeliveryDecision`], which lists all effects. The module does no I/O.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use http::StatusCode;
//! use webhook_core::sender::{
//!     AttemptOutcome, Classification, Delivery, DeliveryId, DeliveryPolicy, Disposition,
//! };
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let id = DeliveryId { event: "evt_1".parse()?, endpoint: "ep_1".parse()? };
//! let delivery = Delivery::new(id, now);
//!
//! // a 500 with `Retry-After: 120`: the retry waits 2 minutes, although the schedule says about 1
//! let outcome = AttemptOutcome::Answered {
//!     status: StatusCode::INTERNAL_SERVER_ERROR,
//!     retry_after: Some(Duration::from_secs(120)),
//! };
//! let (strict, jitter) = (Classification::Strict, u64::MAX / 2);
//! let policy = DeliveryPolicy::default();
//! let decision = policy.after_attempt(&delivery, &outcome, strict, now, jitter);
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
    Attempt, AttemptClass, AttemptOutcome, Audience, Classification, Delivery, Disposition, Endpoint,
    EndpointState, FailureReason, Schedule, Settlement, schedule::jittered,
};
use crate::ports::TransportErrorKind;

const DEFAULT_LIFETIME: Duration = Duration::from_secs(72 * 60 * 60);

/// Time by which the lifetime exceeds the schedule, for deadlines and lost leases.
const LIFETIME_MARGIN: Duration = Duration::from_secs(60 * 60);

/// Hold of an endpoint that responds 429 without `Retry-After`, before jitter.
const THROTTLE_PAUSE: Duration = Duration::from_secs(60);

/// Interval at which a paused endpoint is checked again.
const PAUSE_CHECK: Duration = Duration::from_secs(60);

/// Hold of an endpoint that could not be loaded or disabled.
const STORE_PAUSE: Duration = Duration::from_secs(10);

/// Hold of an endpoint after a 400 or 401 that a wrong local clock explains.
const SKEW_PAUSE: Duration = Duration::from_secs(60);

/// Jitter that leaves a delay unchanged.
const MEAN_JITTER: u64 = 1 << 63;

type Classify = Arc<dyn Fn(&AttemptOutcome) -> AttemptClass + Send + Sync>;

/// Schedule, lifetime and classification of deliveries.
#[derive(Clone)]
pub struct DeliveryPolicy {
    schedule: Schedule,
    lifetime: Duration,
    classify: Option<Classify>,
}

/// Decision on a leased delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DeliveryDecision {
    /// Next step of the delivery.
    pub disposition: Disposition,
    /// `true` if the lease counts as an attempt of the schedule.
    pub spent: bool,
    /// Time until which no delivery of the endpoint is leased.
    pub hold_endpoint_until: Option<SystemTime>,
    /// `true` if the endpoint must be disabled.
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

    /// Creates the settlement of the lease `leased`, with the log row of its attempt. The caller
    /// sets its [`rate`](Settlement::rate) after an attempt.
    #[must_use]
    pub fn settle(self, leased: &Delivery, attempt: Option<Attempt>) -> Settlement {
        Settlement {
            delivery: leased.id.clone(),
            fence: leased.fence,
            owner: leased.owner,
            disposition: self.disposition,
            spent: self.spent,
            hold_endpoint_until: self.hold_endpoint_until,
            rate: None,
            attempt,
        }
    }
}

impl DeliveryPolicy {
    /// Creates a policy with this schedule and the default classification.
    ///
    /// The lifetime is 72 hours, or the longest span of the schedule plus one hour if that is
    /// longer.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        let lifetime = DEFAULT_LIFETIME.max(schedule.longest_span() + LIFETIME_MARGIN);
        Self {
            schedule,
            lifetime,
            classify: None,
        }
    }

    /// Sets the lifetime: the time after acceptance or replay within which a message is sent.
    ///
    /// A lifetime shorter than the schedule ends the attempts early. Receivers must remember event
    /// ids for at least this time.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// Replaces the classification of outcomes for all endpoints; their
    /// [`Endpoint::classification`] is ignored. The function can call [`Classification::classify`]
    /// for outcomes that it does not treat specially.
    #[must_use]
    pub fn with_classification(
        self,
        classification: impl Fn(&AttemptOutcome) -> AttemptClass + Send + Sync + 'static,
    ) -> Self {
        Self {
            classify: Some(Arc::new(classification)),
            ..self
        }
    }

    /// Schedule of the attempts.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Lifetime of a message.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Decides if a leased delivery is sent. `audience` is the audience of its event. `endpoint` is
    /// its endpoint, or `None` if the endpoint is not registered.
    ///
    /// # Errors
    ///
    /// The decision on a delivery that is not sent: its endpoint is unknown, outside of the
    /// audience, disabled or paused, its lifetime is over, or its lease has ended and another
    /// dispatcher may hold it.
    pub fn admit<'e>(
        &self,
        delivery: &Delivery,
        audience: &Audience,
        endpoint: Option<&'e Endpoint>,
        now: SystemTime,
    ) -> Result<&'e Endpoint, DeliveryDecision> {
        let failed = |reason| Err(DeliveryDecision::unsent(Disposition::Failed(reason)));
        let Some(endpoint) = endpoint else {
            return failed(FailureReason::EndpointUnknown);
        };
        // the id of a deleted endpoint may have been registered again by another owner
        if !audience.includes(&endpoint.owner) {
            return failed(FailureReason::OutsideAudience);
        }
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

    /// Decides on the outcome of an attempt that ended at `now`, to an endpoint with this
    /// classification.
    ///
    /// `jitter` is a uniformly random number. It spreads the delay of the schedule and never
    /// shortens `Retry-After`.
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "one for each input of the decision")]
    pub fn after_attempt(
        &self,
        delivery: &Delivery,
        outcome: &AttemptOutcome,
        classification: Classification,
        now: SystemTime,
        jitter: u64,
    ) -> DeliveryDecision {
        let asked = outcome.retry_after().unwrap_or_default();
        let class = match &self.classify {
            Some(classify) => classify(outcome),
            None => classification.classify(outcome),
        };
        match class {
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

    /// Decides on a delivery whose endpoint could not be loaded, or could not be disabled after a
    /// 410.
    ///
    /// The receiver is not at fault, so all deliveries of the endpoint wait 10 seconds and no
    /// attempt is counted. The lifetime bounds the number of repetitions.
    ///
    /// The settlement resets the count of lost leases. A delivery that crashes its dispatchers is
    /// therefore quarantined only if its endpoint can be loaded for the [required
    /// number](super::Dispatcher::with_quarantine_after) of consecutive leases.
    #[must_use]
    pub fn postpone(&self, delivery: &Delivery, now: SystemTime) -> DeliveryDecision {
        let due_at = later(now, STORE_PAUSE);
        let held = self.unless_expired(delivery, Disposition::Held { due_at }, due_at);
        DeliveryDecision {
            hold_endpoint_until: Some(due_at),
            ..DeliveryDecision::unsent(held)
        }
    }

    /// Decides on a 400 or 401 response that the error of the local clock explains: the endpoint is
    /// held for 60 seconds and no attempt is counted, until the lifetime ends.
    #[must_use]
    pub fn hold_for_skew(&self, delivery: &Delivery, now: SystemTime) -> DeliveryDecision {
        let due_at = later(now, SKEW_PAUSE);
        let held = self.unless_expired(delivery, Disposition::Held { due_at }, due_at);
        DeliveryDecision {
            hold_endpoint_until: Some(due_at),
            ..DeliveryDecision::unsent(held)
        }
    }

    /// Decides on an exchange in which the host's own code panicked.
    ///
    /// Counts an attempt, because the receiver may have the message. A classification that panics
    /// every time therefore sends a message no more often than the schedule allows. The retry has
    /// no jitter, because the panic may come from the entropy port.
    #[must_use]
    pub fn after_panic(&self, delivery: &Delivery, now: SystemTime) -> DeliveryDecision {
        DeliveryDecision::spent(self.retry(delivery, now, now, MEAN_JITTER))
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

    /// Returns `waiting`, or a failure if the lifetime is over at `due_at`.
    fn unless_expired(&self, delivery: &Delivery, waiting: Disposition, due_at: SystemTime) -> Disposition {
        if self.is_over(delivery, due_at) {
            Disposition::Failed(FailureReason::LifetimeExpired)
        } else {
            waiting
        }
    }

    /// Returns `true` if the lifetime has ended at `time`. A lifetime beyond the clock's range
    /// never ends.
    fn is_over(&self, delivery: &Delivery, time: SystemTime) -> bool {
        let expiry = delivery.started_at.checked_add(self.lifetime);
        expiry.is_some_and(|expiry| expiry <= time)
    }
}

impl Default for DeliveryPolicy {
    /// Default schedule and classification, and a lifetime of 72 hours.
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

/// `Retry-After` of a 503, which applies to the whole endpoint.
fn unavailable(outcome: &AttemptOutcome) -> Option<Duration> {
    match outcome {
        AttemptOutcome::Answered {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after,
        } => retry_after.filter(|asked| !asked.is_zero()),
        _ => None,
    }
}

/// Adds `wait`; at the end of the clock's range the time stays unchanged.
fn later(time: SystemTime, wait: Duration) -> SystemTime {
    time.checked_add(wait).unwrap_or(time)
}

#[cfg(test)]
mod tests;
