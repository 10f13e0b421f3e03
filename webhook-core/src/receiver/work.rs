//! Decision of a worker after its work on a received event has failed.

use std::time::Duration;

/// Rule for failed work: retries with growing pauses, then a dead letter.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use webhook_core::receiver::{WorkDecision, WorkPolicy};
///
/// let policy = WorkPolicy::default();
/// let middle = u64::MAX / 2;
/// let second = Duration::from_secs(1);
/// let first = policy.after_failure(1, middle);
/// assert!(matches!(first, WorkDecision::Retry { after } if after < second));
/// assert_eq!(policy.after_failure(10, middle), WorkDecision::Bury);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WorkPolicy {
    first: Duration,
    longest: Duration,
    attempts: u32,
}

/// Decision of [`WorkPolicy::after_failure`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WorkDecision {
    /// Call [`Inbox::retry_at`](super::Inbox::retry_at) with the present time and this pause.
    Retry {
        /// Time until the event can be taken again.
        after: Duration,
    },
    /// Call [`Inbox::bury`](super::Inbox::bury).
    Bury,
}

impl WorkPolicy {
    /// Creates a policy: `attempts` in total; the first pause is `first`, and each further one
    /// doubles, up to `longest`.
    #[must_use]
    pub const fn new(first: Duration, longest: Duration, attempts: u32) -> Self {
        Self {
            first,
            longest,
            attempts,
        }
    }

    /// Returns `true` if the attempt with this number is beyond the last. The event must then be
    /// buried before its work runs: the earlier attempts crashed, or were slower than their leases.
    #[must_use]
    pub const fn is_exhausted(&self, attempt: u32) -> bool {
        attempt > self.attempts
    }

    /// Decides after a failure of the attempt with this number
    /// ([`Queued::attempt`](super::Queued::attempt)).
    ///
    /// `jitter` is a uniformly random number: the pause is between half of its length and the
    /// whole, so that events that failed together are not taken together.
    #[must_use]
    pub fn after_failure(&self, attempt: u32, jitter: u64) -> WorkDecision {
        if attempt >= self.attempts {
            return WorkDecision::Bury;
        }
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let pause = self.first.saturating_mul(doubled).min(self.longest);
        let half = pause / 2;
        // thousandths are fine enough, and cannot overflow
        let share = u32::try_from(jitter % 1_001).unwrap_or_default();
        WorkDecision::Retry {
            after: half + half.saturating_mul(share) / 1_000,
        }
    }
}

impl Default for WorkPolicy {
    /// Ten attempts; pauses of 1 s, 2 s, 4 s … up to 10 minutes.
    fn default() -> Self {
        Self::new(Duration::from_secs(1), Duration::from_secs(600), 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W26: pauses double up to their maximum, and the jitter shortens them by at most a half.
    #[test]
    fn pauses_double_until_the_event_is_buried() {
        let policy = WorkPolicy::new(Duration::from_secs(2), Duration::from_secs(10), 5);
        for (attempt, longest) in [(1, 2), (2, 4), (3, 8), (4, 10)] {
            let longest = Duration::from_secs(longest);
            for jitter in [0, 500, 1_000, u64::MAX] {
                let WorkDecision::Retry { after } = policy.after_failure(attempt, jitter) else {
                    panic!("attempt {attempt} is retried");
                };
                assert!(longest / 2 <= after && after <= longest, "{attempt}: {after:?}");
            }
        }
        for attempt in [5, 6, u32::MAX] {
            assert_eq!(policy.after_failure(attempt, 0), WorkDecision::Bury);
            assert_eq!(policy.is_exhausted(attempt), attempt > 5);
        }
        let endless = WorkPolicy::new(Duration::MAX, Duration::MAX, u32::MAX);
        assert!(matches!(
            endless.after_failure(1_000, u64::MAX),
            WorkDecision::Retry { .. }
        ));
    }
}
