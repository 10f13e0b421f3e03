//! The decision.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method, StatusCode};

use super::asked_wait;
use crate::{
    errors::{ReceivedProblem, types},
    idempotency::IDEMPOTENCY_KEY,
    ports::Entropy,
    routing::Semantics,
};

/// How often a client tries, and how long it waits between.
///
/// The wait is drawn evenly between nothing and a ceiling that doubles from try to try (full jitter), so that clients that failed
/// together do not come back together. A wait that the server asks for comes before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryPolicy {
    tries: u32,
    first_ceiling: Duration,
    last_ceiling: Duration,
    longest_wait: Duration,
}

impl Default for RetryPolicy {
    /// Four tries, ceilings from half a second to 20 seconds, and nothing for which the server asks for more than a minute.
    fn default() -> Self {
        Self {
            tries: 4,
            first_ceiling: Duration::from_millis(500),
            last_ceiling: Duration::from_secs(20),
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// A request that was sent, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    method: &'a Method,
    headers: &'a HeaderMap,
    times: u32,
}

/// Outcome of the last try.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a try has no further end")]
pub enum TryOutcome<'a> {
    /// The request did not leave: no name, no connection, no handshake.
    NotSent,
    /// It may have arrived, and there is no answer: a timeout, a connection that broke.
    Lost,
    /// There is an answer.
    Answered {
        /// Its status.
        status: StatusCode,
        /// Its fields.
        headers: &'a HeaderMap,
        /// Its content, if that is a problem: only it tells a conflict that passes from one that stays.
        problem: Option<&'a ReceivedProblem>,
    },
}

/// Decision of [`RetryPolicy::decide`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to do")]
pub enum RetryDecision {
    /// Send the same request again, after this wait.
    Retry(Duration),
    /// Do not.
    GiveUp(GiveUp),
}

/// Why not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum GiveUp {
    /// The answer would be the same again.
    Final,
    /// Nobody knows whether the request took effect, and it may not take effect twice: it is not idempotent and has no
    /// `Idempotency-Key`.
    NotRepeatable,
    /// It was tried often enough.
    Exhausted,
    /// The server asks for a longer wait than the client has.
    TooLong(Duration),
}

impl<'a> Tried<'a> {
    /// A request of this method and fields, sent so many times.
    #[must_use]
    pub const fn new(method: &'a Method, headers: &'a HeaderMap, times: u32) -> Self {
        Self {
            method,
            headers,
            times,
        }
    }

    fn is_keyed(self) -> bool {
        self.headers.contains_key(IDEMPOTENCY_KEY)
    }

    fn is_repeatable(self) -> bool {
        self.is_keyed() || Semantics::of(self.method).is_retried()
    }
}

impl RetryPolicy {
    /// With so many tries, the first included.
    #[must_use]
    pub const fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// With waits below these ceilings: after the first try, and after however many.
    #[must_use]
    pub const fn with_ceilings(mut self, first: Duration, last: Duration) -> Self {
        self.first_ceiling = first;
        self.last_ceiling = last;
        self
    }

    /// Gives up where the server asks for a longer wait than this.
    #[must_use]
    pub const fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Whether to send the request again.
    ///
    /// A request that did not leave is; one that may have arrived only if it is idempotent or carries an `Idempotency-Key`. Then
    /// what was lost is tried again, and 408, 425, 429, 500, 502, 503, 504, and the 409 of a first request that is still in
    /// progress. Ask the [budget](super::RetryBudget) before doing so.
    #[must_use]
    pub fn decide(
        &self,
        tried: Tried<'_>,
        outcome: TryOutcome<'_>,
        now: SystemTime,
        entropy: &dyn Entropy,
    ) -> RetryDecision {
        let (may_pass, asked) = match outcome {
            TryOutcome::NotSent | TryOutcome::Lost => (true, None),
            TryOutcome::Answered {
                status,
                headers,
                problem,
            } => (may_pass(status, problem, tried), asked_wait(headers, now)),
        };
        let never_left = matches!(outcome, TryOutcome::NotSent);
        if !may_pass {
            return RetryDecision::GiveUp(GiveUp::Final);
        }
        if !never_left && !tried.is_repeatable() {
            return RetryDecision::GiveUp(GiveUp::NotRepeatable);
        }
        if tried.times >= self.tries {
            return RetryDecision::GiveUp(GiveUp::Exhausted);
        }
        match asked.unwrap_or(Duration::ZERO) {
            asked if asked > self.longest_wait => RetryDecision::GiveUp(GiveUp::TooLong(asked)),
            asked => RetryDecision::Retry(asked.saturating_add(self.jitter(tried.times, entropy))),
        }
    }

    /// Evenly between nothing and the ceiling after so many tries.
    fn jitter(&self, times: u32, entropy: &dyn Entropy) -> Duration {
        let doublings = times.saturating_sub(1).min(31);
        let ceiling = self.first_ceiling.saturating_mul(1 << doublings);
        let ceiling = ceiling.min(self.last_ceiling);
        let mut random = [0; 4];
        entropy.fill(&mut random);
        // the fraction of two whole numbers below 2³², one more for the ceiling itself
        let share = f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX);
        ceiling.mul_f64(share).min(ceiling)
    }
}

fn may_pass(status: StatusCode, problem: Option<&ReceivedProblem>, tried: Tried<'_>) -> bool {
    match status.as_u16() {
        408 | 425 | 429 | 500 | 502 | 503 | 504 => true,
        409 => tried.is_keyed() && problem.is_some_and(is_in_flight),
        _ => false,
    }
}

/// By the slug, as the client need not know the base of the server's types.
fn is_in_flight(problem: &ReceivedProblem) -> bool {
    let base = problem
        .type_uri()
        .strip_suffix(types::IDEMPOTENCY_IN_FLIGHT.slug());
    base.is_some_and(|base| base.ends_with(['/', '#', ':']))
}
