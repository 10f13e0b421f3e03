//! The health of an endpoint: how much it is sent at a time, when it is left alone, and when it is given up.
//!
//! [`EndpointHealth`] is a plain value in the [`Lane`] that an outbox keeps for each endpoint, and [`EndpointHealth::observe`] is
//! the only thing that changes it. [`Outbox::settle`](super::Outbox::settle) calls [`Lane::settle`] in the transaction in which it
//! writes the outcome, so several dispatchers of one outbox share what they have learned.
//!
//! | | rule |
//! |---|---|
//! | concurrency | starts at 4; one more, up to 64, for each full window of successes; halved by 429, 503 and timeouts, once for all that was under way together; at least 1 |
//! | breaker | opens after 5 failures without a success, for 1, 2, 4 … 60 minutes; then one delivery at a time is a probe; any answer but a failure closes it |
//! | disabling | after 5 days of failures, at least 5, without a success; once a settlement says that the endpoint is disabled, all starts anew |
//!
//! A failure is an exchange that brought no answer, or one to be tried again. A 4xx counts for the disabling alone, since it
//! shows that somebody is there; a 429 does not even count for that.
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
//! // the probe, once the pause is over
//! assert_eq!(health.observe(Signal::Delivered, until, until), Some(HealthEvent::BreakerClosed));
//! ```

mod lane;

use std::time::{Duration, SystemTime};

pub use lane::Lane;

const FIRST_LIMIT: u32 = 4;
const LARGEST_LIMIT: u32 = 64;

/// So many failures without a success open the breaker, and fewer never disable an endpoint.
const FAILURES: u32 = 5;

const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// An endpoint that fails for so long is given up.
const PATIENCE: Duration = Duration::from_secs(5 * 24 * 60 * 60);

/// What an outbox knows of an endpoint's health.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EndpointHealth {
    /// How many deliveries may be under way at a time, from 1 to 64.
    pub limit: u32,
    /// Successes since the limit was changed or something else came back.
    pub successes: u32,
    /// Failures since the last success.
    pub failures: u32,
    /// When the first of them was.
    pub failing_since: Option<SystemTime>,
    /// How many times in a row the breaker has opened; zero while it is closed.
    pub pauses: u32,
    /// The last halving, or the end of the last pause: what began before neither halves the limit nor moves the breaker.
    pub counts_from: Option<SystemTime>,
}

/// What an exchange says about the endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Signal {
    /// 2xx.
    Delivered,
    /// 429.
    Throttled,
    /// An answer that no repetition can change.
    Rejected,
    /// No answer, or one to be tried again.
    Failed {
        /// Whether it looks like too much at a time: a timeout, 408, 503 or 504.
        congested: bool,
    },
}

/// A change of an endpoint's health, for the host to act on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HealthEvent {
    /// The endpoint keeps failing. Its deliveries wait, and spend no attempts.
    BreakerOpened {
        /// Then one of them is tried.
        until: SystemTime,
    },
    /// The endpoint answers again.
    BreakerClosed,
    /// The endpoint has failed for five days and is given up. The dispatcher disables it; until it has, every further failure
    /// says so again.
    Disabled {
        /// Since when.
        failing_since: SystemTime,
    },
}

impl EndpointHealth {
    /// Learns from an exchange that began at `started_at` and was over at `now`, and says what that changed.
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

    /// Whether deliveries wait for a probe.
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

    /// Somebody is there: a probe that found so closes the breaker.
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
    /// That of an endpoint which nothing is known of.
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

/// The pause after so many before it.
fn pause(before: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(before))
        .min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
