//! Decides whether to retry a request.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method, StatusCode};

use super::parse_wait;
use crate::{
    errors::{ReceivedProblem, types},
    idempotency::IDEMPOTENCY_KEY,
    ports::Entropy,
    routing::Semantics,
};

/// Retry policy: number of attempts and exponential backoff with full jitter.
///
/// The wait is a uniformly random time between zero and a ceiling. The ceiling doubles with each
/// attempt. Clients that failed together therefore do not retry together. If the server asks for a
/// wait, the random time is added to that wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryPolicy {
    attempts: u32,
    first_ceiling: Duration,
    last_ceiling: Duration,
    longest_wait: Duration,
}

impl Default for RetryPolicy {
    /// Defaults: 4 attempts, and ceilings from 500 ms to 20 s. The policy gives up if the server
    /// asks for a wait of more than 60 s.
    fn default() -> Self {
        Self {
            attempts: 4,
            first_ceiling: Duration::from_millis(500),
            last_ceiling: Duration::from_secs(20),
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// A request, and the number of times it was sent so far.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    method: &'a Method,
    headers: &'a HeaderMap,
    times: u32,
}

/// Outcome of the last attempt.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "an attempt has no further outcome")]
pub enum AttemptOutcome<'a> {
    /// The request was not sent: DNS, connection or TLS handshake failed.
    NotSent,
    /// The request may have arrived, but there is no response: a timeout or a broken connection.
    Lost,
    /// The server responded.
    Response {
        /// Status of the response.
        status: StatusCode,
        /// Headers of the response.
        headers: &'a HeaderMap,
        /// Problem document of the response, if it has one. It distinguishes a temporary 409 from a
        /// permanent one.
        problem: Option<&'a ReceivedProblem>,
    },
}

/// Decision of [`RetryPolicy::decide`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a client retries or gives up")]
pub enum RetryDecision {
    /// Send the same request again after this wait.
    Retry(Duration),
    /// Do not retry.
    GiveUp(GiveUp),
}

/// Reason not to retry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum GiveUp {
    /// Another attempt would get the same response.
    Final,
    /// The request may have taken effect and must not take effect twice: its method is not
    /// idempotent and it has no `Idempotency-Key`.
    NotRepeatable,
    /// The maximum number of attempts is reached.
    Exhausted,
    /// The server asks for this wait, which is longer than
    /// [`with_longest_wait`](RetryPolicy::with_longest_wait) accepts.
    TooLong(Duration),
}

impl<'a> Attempt<'a> {
    /// Creates an attempt: a request of this method with these headers, sent `times` times so far.
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
    /// Sets the maximum number of attempts, the first included; default 4.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the ceiling of the wait after the first attempt, default 500 ms, and the largest
    /// ceiling, default 20 s.
    #[must_use]
    pub const fn with_ceilings(mut self, first: Duration, last: Duration) -> Self {
        self.first_ceiling = first;
        self.last_ceiling = last;
        self
    }

    /// Sets the longest wait that the client accepts from a server, default 60 s.
    #[must_use]
    pub const fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Decides whether to retry the request, and after which wait.
    ///
    /// - A request that was not sent is retried.
    /// - A lost request is retried if its method is idempotent or it has an `Idempotency-Key`.
    /// - Under the same condition, a request that gets 408, 425, 429, 500, 502, 503 or 504 is
    ///   retried.
    /// - A 409 is retried if the request has an `Idempotency-Key` and the problem type is that of a
    ///   first request still in progress.
    ///
    /// Before sending the retry, withdraw it from a [`RetryBudget`](super::RetryBudget).
    #[must_use]
    pub fn decide(
        &self,
        attempt: Attempt<'_>,
        outcome: AttemptOutcome<'_>,
        now: SystemTime,
        entropy: &dyn Entropy,
    ) -> RetryDecision {
        let (may_pass, asked) = match outcome {
            AttemptOutcome::NotSent | AttemptOutcome::Lost => (true, None),
            AttemptOutcome::Response {
                status,
                headers,
                problem,
            } => (may_pass(status, problem, attempt), parse_wait(headers, now)),
        };
        let never_left = matches!(outcome, AttemptOutcome::NotSent);
        if !may_pass {
            return RetryDecision::GiveUp(GiveUp::Final);
        }
        if !never_left && !attempt.is_repeatable() {
            return RetryDecision::GiveUp(GiveUp::NotRepeatable);
        }
        if attempt.times >= self.attempts {
            return RetryDecision::GiveUp(GiveUp::Exhausted);
        }
        match asked.unwrap_or(Duration::ZERO) {
            asked if asked > self.longest_wait => RetryDecision::GiveUp(GiveUp::TooLong(asked)),
            asked => RetryDecision::Retry(asked.saturating_add(self.jitter(attempt.times, entropy))),
        }
    }

    /// Uniformly random time between zero and the ceiling of this attempt.
    fn jitter(&self, times: u32, entropy: &dyn Entropy) -> Duration {
        let doublings = times.saturating_sub(1).min(31);
        let ceiling = self.first_ceiling.saturating_mul(1 << doublings);
        let ceiling = ceiling.min(self.last_ceiling);
        let mut random = [0; 4];
        entropy.fill(&mut random);
        // both ends of the range can occur
        let share = f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX);
        ceiling.mul_f64(share).min(ceiling)
    }
}

fn may_pass(status: StatusCode, problem: Option<&ReceivedProblem>, attempt: Attempt<'_>) -> bool {
    match status.as_u16() {
        408 | 425 | 429 | 500 | 502 | 503 | 504 => true,
        409 => attempt.is_keyed() && problem.is_some_and(is_in_flight),
        _ => false,
    }
}

/// Compares the slug alone: the client does not know the base of the server's types.
fn is_in_flight(problem: &ReceivedProblem) -> bool {
    let base = problem
        .type_uri()
        .strip_suffix(types::IDEMPOTENCY_IN_FLIGHT.slug());
    base.is_some_and(|base| base.ends_with(['/', '#', ':']))
}
