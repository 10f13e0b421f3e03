//! Health of an endpoint: concurrency limit, circuit breaker, and disabling.
//!
//! [`EndpointHealth`] is a plain value in the [`Lane`] that an outbox keeps for each endpoint. Only
//! [`EndpointHealth::observe`] changes it. [`Outbox::settle`](super::Outbox::settle) calls
//! [`Lane::settle`] in the transaction that writes the outcome, so all dispatchers of an outbox
//! share the health.
//!
//! | mechanism | rule |
//! |---|---|
//! | concurrency limit | starts at 4; grows by 1, up to 64, after as many consecutive successes as the limit; is halved, down to 1, by 408, 429, 503, 504 and timeouts, once for exchanges that ran at the same time |
//! | circuit breaker | opens after 5 failures without a success, for 1, 2, 4 … 60 minutes; then a single delivery is the probe; any response that is not a failure closes it |
//! | disabling | after 5 days with at least 5 failures and no success; a settlement that reports the endpoint as disabled resets the health |
//!
//! A failure is an exchange without a response, or with a response that is retried. A response that
//! is not retried, such as 404, counts only towards disabling, because the endpoint is reachable. A
//! 429 does not count as a failure.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::sender::{EndpointHealth, HealthEvent, Signal};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let mut health = EndpointHealth::default();
//! for _ in 0..4 {
//!     assert_eq!(health.observe(Signal::Failed { congested: false }, now, now), None);
//! }
//! let until = now + Duration::from_secs(60);
//! let opened = health.observe(Signal::Failed { congested: false }, now, now);
//! assert_eq!(opened, Some(HealthEvent::BreakerOpened { until }));
//! assert_eq!(health.limit, 1);
//!
//! // the probe, after the pause
//! assert_eq!(health.observe(Signal::Delivered, until, until), Some(HealthEvent::BreakerClosed));
//! ```

mod lane;

use std::time::{Duration, SystemTime};

pub use lane::Lane;

const FIRST_LIMIT: u32 = 4;
const LARGEST_LIMIT: u32 = 64;

/// Number of failures without a success that open the breaker; fewer never disable an endpoint.
const FAILURES: u32 = 5;

const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// Time of continuous failures after which an endpoint is disabled.
const PATIENCE: Duration = Duration::from_secs(5 * 24 * 60 * 60);

/// Health of an endpoint, kept by the outbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EndpointHealth {
    /// Maximum number of concurrent deliveries, from 1 to 64.
    pub limit: u32,
    /// Number of consecutive successes since the limit last changed.
    pub successes: u32,
    /// Failures since the last success.
    pub failures: u32,
    /// Time of the first of these failures.
    pub failing_since: Option<SystemTime>,
    /// Number of consecutive times that the breaker opened; 0 while it is closed.
    pub pauses: u32,
    /// Time of the last halving or end of the last pause. Exchanges that began earlier neither
    /// halve the limit nor move the breaker.
    pub counts_from: Option<SystemTime>,
}

/// Meaning of an exchange for the health.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Signal {
    /// 2xx.
    Delivered,
    /// 429.
    Throttled,
    /// Response that is not retried, such as 404.
    Rejected,
    /// No response, or a response that is retried.
    Failed {
        /// `true` for signs of overload: a timeout, 408, 503 or 504.
        congested: bool,
    },
}

/// Change of an endpoint's health that the host may act on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HealthEvent {
    /// The circuit breaker opened: deliveries wait, and no attempt is counted.
    BreakerOpened {
        /// Time of the next probe.
        until: SystemTime,
    },
    /// The circuit breaker closed: the endpoint responds again.
    BreakerClosed,
    /// The endpoint has failed for five days.
    ///
    /// The dispatcher disables it. Until then every further failure repeats this event.
    Disabled {
        /// Time of the first failure.
        failing_since: SystemTime,
    },
}

impl EndpointHealth {
    /// Applies an exchange that began at `started_at` and ended at `now`; returns the change for
    /// the host.
    pub fn observe(
        &mut self,
        signal: Signal,
        started_at: SystemTime,
        now: SystemTime,
    ) -> Option<HealthEvent> {
        let is_current = self.counts_from.is_none_or(|from| from <= started_at);
        match signal {
            Signal::Delivered => {
                (self.failures, self.failing_since) = (0, None);
                let event = self.answered(is_current);
                self.grow();
                event
            }
            Signal::Throttled => {
                let event = self.answered(is_current);
                self.shrink(is_current, now);
                event
            }
            Signal::Rejected => self.fail(now).or_else(|| self.answered(is_current)),
            Signal::Failed { congested } => self.fail(now).or_else(|| {
                let event = self.open(is_current, now);
                self.shrink(is_current && congested && event.is_none(), now);
                event
            }),
        }
    }

    /// Returns `true` while the circuit breaker is open: deliveries wait for the result of a probe.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.pauses > 0
    }

    fn grow(&mut self) {
        if self.is_open() {
            return;
        }
        self.successes = self.successes.saturating_add(1);
        if self.successes >= self.limit {
            self.limit = self.limit.saturating_add(1).min(LARGEST_LIMIT);
            self.successes = 0;
        }
    }

    fn shrink(&mut self, is_due: bool, now: SystemTime) {
        self.successes = 0;
        if is_due {
            self.limit = (self.limit / 2).max(1);
            self.counts_from = Some(now);
        }
    }

    /// Handles a response: after a probe it closes the breaker.
    fn answered(&mut self, is_current: bool) -> Option<HealthEvent> {
        if !self.is_open() || !is_current {
            return None;
        }
        self.pauses = 0;
        Some(HealthEvent::BreakerClosed)
    }

    fn fail(&mut self, now: SystemTime) -> Option<HealthEvent> {
        self.successes = 0;
        self.failures = self.failures.saturating_add(1);
        let failing_since = *self.failing_since.get_or_insert(now);
        let given_up_at = failing_since.checked_add(PATIENCE)?;
        if self.failures < FAILURES || now < given_up_at {
            return None;
        }
        Some(HealthEvent::Disabled { failing_since })
    }

    fn open(&mut self, is_current: bool, now: SystemTime) -> Option<HealthEvent> {
        if !is_current || (self.failures < FAILURES && !self.is_open()) {
            return None;
        }
        let until = now.checked_add(pause(self.pauses))?;
        self.pauses = self.pauses.saturating_add(1);
        self.limit = 1;
        self.counts_from = Some(until);
        Some(HealthEvent::BreakerOpened { until })
    }
}

impl Default for EndpointHealth {
    /// Health of a new endpoint.
    fn default() -> Self {
        Self {
            limit: FIRST_LIMIT,
            successes: 0,
            failures: 0,
            failing_since: None,
            pauses: 0,
            counts_from: None,
        }
    }
}

/// Length of the next pause after `before` consecutive pauses.
fn pause(before: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(before))
        .min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
