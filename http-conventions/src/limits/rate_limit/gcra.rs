//! Generic cell rate algorithm (GCRA). The state of a bucket is one point in time, and a decision
//! takes a few additions.

use std::time::{Duration, SystemTime};

use super::Quota;

/// Tolerated clock skew between machines: 60 s, in nanoseconds. A state further ahead was written
/// before a clock was set back.
pub(super) const LARGEST_SKEW: u64 = 60_000_000_000;
/// Latest accepted time, in the year 2116. Keeps all sums below 2^63, the integer range of
/// databases.
const LATEST_NOW: u64 = 1 << 62;

/// State of a bucket: the time at which it is full, in nanoseconds since 1970.
///
/// A bucket is full from that time on; the default is a full bucket. States of [`decide`] are below
/// 2^63.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct State(u64);

impl State {
    /// Restores a state from a store.
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since 1970, to keep in a store.
    #[must_use]
    pub const fn as_nanoseconds(self) -> u64 {
        self.0
    }
}

/// Decision of [`decide`] on one request under one quota.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a request passes or it does not")]
pub enum RateLimitDecision {
    /// The request passes.
    Allowed {
        /// State of the bucket after the request; the store replaces the old state with it.
        state: State,
    },
    /// The request is refused; the state of the bucket does not change.
    Denied {
        /// Time after which the same request passes, if no other request takes from the bucket.
        /// Never zero.
        wait: Duration,
    },
}

impl RateLimitDecision {
    /// Returns `true` if the request passes.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }
}

/// Decides whether a request of this cost passes.
///
/// The function is pure and never panics.
///
/// - A cost above the burst counts as the burst; otherwise the request could never pass.
/// - A cost of zero always passes.
/// - If the clock is set back by up to 60 s, no units are added. A spent unit becomes available
///   when the clock reaches the same time as without the step. The wait is at most 60 s longer than
///   the time in which an empty bucket fills.
/// - A state that is more than 60 s later than that of an empty bucket counts as a full bucket: the
///   clock was set back after the state was written. The clocks of several machines may therefore
///   differ by up to 60 s.
///
/// With two requests per second, the third request must wait 500 ms:
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use http_conventions::limits::{Quota, RateLimitDecision, State, decide};
///
/// let (quota, now) = (
///     Quota::per(2, Duration::from_secs(1))?,
///     SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
/// );
/// let RateLimitDecision::Allowed { state } = decide(State::default(), &quota, 1, now) else {
///     panic!("the bucket is full")
/// };
/// let RateLimitDecision::Allowed { state } = decide(state, &quota, 1, now) else {
///     panic!("there were two")
/// };
/// assert_eq!(
///     decide(state, &quota, 1, now),
///     RateLimitDecision::Denied {
///         wait: Duration::from_millis(500)
///     }
/// );
/// # Ok::<(), http_conventions::limits::InvalidQuota>(())
/// ```
#[must_use]
pub fn decide(state: State, quota: &Quota, cost: u32, now: SystemTime) -> RateLimitDecision {
    decide_at(state, quota, cost, nanoseconds(now))
}

pub(super) fn decide_at(state: State, quota: &Quota, cost: u32, now: u64) -> RateLimitDecision {
    let latest = now.saturating_add(quota.capacity());
    let spent = full_at(state, latest, now).saturating_add(quota.increment(cost));
    if spent <= latest {
        return RateLimitDecision::Allowed { state: State(spent) };
    }
    RateLimitDecision::Denied {
        wait: Duration::from_nanos(spent - latest),
    }
}

/// Units of a bucket at one point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Standing {
    /// Whole units that are available.
    pub(super) remaining: u32,
    /// Time until one more unit is available.
    pub(super) next: Duration,
    /// Time at which the bucket is full, in nanoseconds since 1970.
    pub(super) full_at: u64,
}

impl Standing {
    pub(super) fn of(state: State, quota: &Quota, now: u64) -> Self {
        let latest = now.saturating_add(quota.capacity());
        let full_at = full_at(state, latest, now);
        let left = latest.saturating_sub(full_at);
        let interval = quota.interval_nanoseconds();
        // a machine whose clock is ahead can write a state later than that of an empty bucket
        let next = match left {
            0 => full_at.saturating_sub(latest).saturating_add(interval),
            left => interval - left % interval,
        };
        Self {
            remaining: u32::try_from(left / interval).unwrap_or(quota.burst()),
            next: Duration::from_nanos(next),
            full_at,
        }
    }
}

fn full_at(state: State, latest: u64, now: u64) -> u64 {
    match state.0 > latest.saturating_add(LARGEST_SKEW) {
        true => now,
        false => state.0.max(now),
    }
}

/// Converts a time to nanoseconds of a [`State`]. Times before 1970 count as 1970.
pub(super) fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanoseconds = since.as_secs().saturating_mul(1_000_000_000);
    nanoseconds
        .saturating_add(since.subsec_nanos().into())
        .min(LATEST_NOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const NOW: u64 = 1_800_000_000 * SECOND + 789;

    fn quota() -> Quota {
        Quota::per(10, Duration::from_secs(10))
            .unwrap()
            .with_burst(3)
            .unwrap()
    }

    fn spend(state: State, cost: u32, now: u64) -> State {
        match decide_at(state, &quota(), cost, now) {
            RateLimitDecision::Allowed { state } => state,
            RateLimitDecision::Denied { wait } => panic!("{wait:?}"),
        }
    }

    fn wait(state: State, cost: u32, now: u64) -> u64 {
        match decide_at(state, &quota(), cost, now) {
            RateLimitDecision::Allowed { .. } => 0,
            RateLimitDecision::Denied { wait } => u64::try_from(wait.as_nanos()).unwrap(),
        }
    }

    /// H15: the burst passes at once, and each further unit at its exact nanosecond.
    #[test]
    fn a_unit_comes_back_at_its_exact_instant() {
        let mut state = State::default();
        for left in [2, 1, 0] {
            state = spend(state, 1, NOW);
            assert_eq!(Standing::of(state, &quota(), NOW).remaining, left);
        }
        assert_eq!(wait(state, 1, NOW), SECOND);
        assert_eq!(wait(state, 1, NOW + SECOND - 1), 1);
        assert_eq!(wait(state, 1, NOW + SECOND), 0);
        assert_eq!(wait(state, 2, NOW + SECOND), SECOND);
        assert_eq!(
            wait(state, 9, NOW),
            3 * SECOND,
            "a cost beyond the burst is the burst"
        );
        assert_eq!(wait(state, 0, NOW), 0, "what costs nothing passes");
    }

    /// H15: the reported standing equals the behaviour of the bucket.
    #[test]
    fn standing_matches_the_bucket() {
        let of = |state, now| {
            let Standing {
                remaining,
                next,
                full_at,
            } = Standing::of(state, &quota(), now);
            (remaining, u64::try_from(next.as_nanos()).unwrap(), full_at - now)
        };
        assert_eq!(of(State::default(), NOW), (3, SECOND, 0));
        let state = spend(State::default(), 2, NOW);
        assert_eq!(of(state, NOW), (1, SECOND, 2 * SECOND));
        assert_eq!(of(state, NOW + 1), (1, SECOND - 1, 2 * SECOND - 1));
        assert_eq!(of(state, NOW + SECOND - 1), (1, 1, SECOND + 1));
        assert_eq!(of(state, NOW + SECOND), (2, SECOND, SECOND));
        let empty = spend(state, 1, NOW);
        assert_eq!(of(empty, NOW), (0, SECOND, 3 * SECOND));
        assert_eq!(
            of(empty, NOW - 5 * SECOND),
            (0, 6 * SECOND, 8 * SECOND),
            "spent by a clock ahead"
        );
    }

    /// H15: a clock that is set back gives no units, and the wait grows by at most 60 s.
    #[test]
    fn a_clock_that_steps_back_gives_nothing_and_does_not_lock_out() {
        let empty = spend(State::default(), 3, NOW);
        for step in [1, SECOND, 60 * SECOND] {
            assert_eq!(wait(empty, 1, NOW - step), SECOND + step);
        }
        assert_eq!(wait(empty, 1, NOW - 60 * SECOND - 1), 0);
        assert_eq!(Standing::of(empty, &quota(), NOW - 60 * SECOND - 1).remaining, 3);
        assert_eq!(wait(empty, 1, 0), 0);
    }

    #[test]
    fn no_time_and_no_state_overflows() {
        let long = Quota::per(u32::MAX, Duration::from_secs(1))
            .unwrap()
            .with_burst(u32::MAX)
            .unwrap();
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        for now in [
            nanoseconds(far),
            nanoseconds(SystemTime::UNIX_EPOCH - Duration::from_secs(9)),
            u64::MAX,
        ] {
            for state in [0, 1, LATEST_NOW, u64::MAX] {
                for cost in [0, 1, u32::MAX] {
                    let decided = decide_at(State(state), &long, cost, now);
                    let _ = Standing::of(State(state), &long, now);
                    if let (RateLimitDecision::Allowed { state }, true) = (decided, now <= LATEST_NOW) {
                        assert!(i64::try_from(state.as_nanoseconds()).is_ok());
                    }
                }
            }
        }
    }
}
