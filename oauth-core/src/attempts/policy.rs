use std::num::NonZeroU32;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::time::later;

/// Maximum of all waits and windows. A longer one could overflow the clock, which would disable the
/// limit.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Rate limit with exponential backoff.
///
/// The first attempts are free. After the last free attempt, and after each further attempt, the
/// next attempt must wait; the wait doubles up to a maximum. The count is forgotten one window
/// after the end of the last wait. Waits and windows are at most 365 days.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct AttemptPolicy {
    attempts: NonZeroU32,
    window: Duration,
    first_wait: Duration,
    longest_wait: Duration,
}

impl AttemptPolicy {
    /// Policy for passwords: 5 free attempts, then waits from 30 seconds to 15 minutes, and a
    /// window of one hour. It allows about 100 guesses a day per name.
    pub const PASSWORDS: Self = Self {
        attempts: NonZeroU32::MIN.saturating_add(4),
        window: Duration::from_secs(60 * 60),
        first_wait: Duration::from_secs(30),
        longest_wait: Duration::from_secs(15 * 60),
    };

    /// Policy for client secrets and assertions: 20 free failures, then waits from one second to
    /// one minute, and a window of 15 minutes.
    pub const CLIENTS: Self = Self {
        attempts: NonZeroU32::MIN.saturating_add(19),
        window: Duration::from_secs(15 * 60),
        first_wait: Duration::from_secs(1),
        longest_wait: Duration::from_secs(60),
    };

    /// Policy for reset messages to one address: 3 free messages, then waits from five minutes to
    /// one hour, and a window of one hour.
    pub const RESETS: Self = Self {
        attempts: NonZeroU32::MIN.saturating_add(2),
        window: Duration::from_secs(60 * 60),
        first_wait: Duration::from_secs(5 * 60),
        longest_wait: Duration::from_secs(60 * 60),
    };

    /// Creates a policy with `attempts` free attempts and without backoff: after the last free
    /// attempt, and after each further attempt, the next attempt must wait for `window`. The count
    /// is forgotten one `window` after the last wait.
    #[must_use]
    pub const fn new(attempts: NonZeroU32, window: Duration) -> Self {
        Self {
            attempts,
            window,
            first_wait: window,
            longest_wait: window,
        }
    }

    /// Sets waits that start at `first` and double up to `longest`.
    #[must_use]
    pub const fn with_backoff(self, first: Duration, longest: Duration) -> Self {
        Self {
            first_wait: first,
            longest_wait: longest,
            ..self
        }
    }

    /// Returns the number of free attempts.
    #[must_use]
    pub const fn attempts(&self) -> NonZeroU32 {
        self.attempts
    }

    /// Decides on an attempt at `now`. `tally` is the stored tally of the key, if it has one.
    pub fn decide(&self, tally: Option<&Tally>, now: SystemTime) -> AttemptDecision {
        let tally = tally.filter(|tally| !tally.is_forgotten(now));
        if let Admission::Refused { retry_after } = Tally::standing(tally, now) {
            return AttemptDecision::Refuse { retry_after };
        }
        let attempts = tally.map_or(0, |tally| tally.attempts).saturating_add(1);
        let opens_at = later(now, self.wait(attempts));
        AttemptDecision::Admit(Tally {
            attempts,
            opens_at,
            forgotten_at: later(opens_at, self.window.min(LONGEST)),
        })
    }

    /// Wait after this number of attempts.
    fn wait(&self, attempts: u32) -> Duration {
        let Some(beyond) = attempts.checked_sub(self.attempts.get()) else {
            return Duration::ZERO;
        };
        // an overflow exceeds every wait
        let factor = 1_u32.checked_shl(beyond).unwrap_or(u32::MAX);
        self.first_wait
            .saturating_mul(factor)
            .min(self.longest_wait)
            .min(LONGEST)
    }
}

/// Count of attempts under one key.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// Number of attempts.
    pub attempts: u32,
    /// Instant from which the next attempt is admitted.
    pub opens_at: SystemTime,
    /// Instant from which the tally has no effect any more.
    pub forgotten_at: SystemTime,
}

impl Tally {
    /// Creates a tally from stored values.
    #[must_use]
    pub const fn new(attempts: u32, opens_at: SystemTime, forgotten_at: SystemTime) -> Self {
        Self {
            attempts,
            opens_at,
            forgotten_at,
        }
    }

    /// Returns `true` if the tally has no effect any more and its row can be deleted.
    #[must_use]
    pub fn is_forgotten(&self, now: SystemTime) -> bool {
        self.forgotten_at <= now
    }

    /// Returns the decision on an attempt at `now`, without counting the attempt. `tally` is the
    /// stored tally of the key, if it has one.
    pub fn standing(tally: Option<&Self>, now: SystemTime) -> Admission {
        let closed = tally.filter(|tally| !tally.is_forgotten(now));
        match closed.map(|tally| tally.opens_at.duration_since(now)) {
            Some(Ok(retry_after)) if !retry_after.is_zero() => Admission::Refused { retry_after },
            _ => Admission::Admitted,
        }
    }
}

/// Decision on one attempt, for a store to carry out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[expect(
    clippy::exhaustive_enums,
    reason = "a store has to do what was decided, whatever it is"
)]
pub enum AttemptDecision {
    /// Store this tally and admit the attempt.
    Admit(Tally),
    /// Refuse the attempt and change nothing.
    Refuse {
        /// Time until the next attempt is admitted.
        retry_after: Duration,
    },
}

/// Admission or refusal of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Admission {
    /// The attempt may be made. [`AttemptStore::admit`](crate::store::AttemptStore::admit) has
    /// counted it; [`AttemptStore::standing`](crate::store::AttemptStore::standing) has not.
    Admitted,
    /// The attempt must not be made. It was not counted.
    Refused {
        /// Time until the next attempt is admitted.
        retry_after: Duration,
    },
}

impl Admission {
    /// Returns `true` for `Admitted`.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        matches!(self, Self::Admitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn policy() -> AttemptPolicy {
        let three = NonZeroU32::new(3).unwrap();
        AttemptPolicy::new(three, 60 * SECOND).with_backoff(2 * SECOND, 7 * SECOND)
    }

    fn start() -> SystemTime {
        SystemTime::UNIX_EPOCH + 1_800_000_000 * SECOND
    }

    fn admitted(policy: &AttemptPolicy, tally: Option<&Tally>, now: SystemTime) -> Tally {
        match policy.decide(tally, now) {
            AttemptDecision::Admit(tally) => tally,
            AttemptDecision::Refuse { retry_after } => panic!("{retry_after:?}"),
        }
    }

    /// O27, 14: three attempts are free; each further one causes a wait that doubles up to the
    /// longest.
    #[test]
    fn waits_double_up_to_the_longest() {
        let policy = policy();
        let mut now = start();
        let mut tally = None;
        for wait in [0, 0, 2, 4, 7, 7] {
            let kept = admitted(&policy, tally.as_ref(), now);
            assert_eq!(kept.opens_at, now + wait * SECOND);
            if wait > 0 {
                let early = kept.opens_at - NANOSECOND;
                let refused = AttemptDecision::Refuse {
                    retry_after: NANOSECOND,
                };
                assert_eq!(policy.decide(Some(&kept), early), refused);
            }
            now = kept.opens_at;
            tally = Some(kept);
        }
        let tally = Tally {
            attempts: u32::MAX,
            ..tally.unwrap()
        };
        let kept = admitted(&policy, Some(&tally), now);
        assert_eq!((kept.attempts, kept.opens_at), (u32::MAX, now + 7 * SECOND));
    }

    /// O27: the window begins when the next attempt is admitted, and ends to the nanosecond.
    #[test]
    fn attempts_are_forgotten_at_the_exact_instant() {
        let policy = policy();
        let tally = (0..3).fold(None, |tally: Option<Tally>, _| {
            Some(admitted(&policy, tally.as_ref(), start()))
        });
        let end = start() + 62 * SECOND;
        assert_eq!(tally.unwrap().forgotten_at, end);
        assert_eq!(admitted(&policy, tally.as_ref(), end - NANOSECOND).attempts, 4);
        assert_eq!(admitted(&policy, tally.as_ref(), end).attempts, 1);
    }

    /// O27: extreme times neither panic nor overflow, and a forgotten tally locks nothing.
    #[test]
    fn absurd_times_are_decided_too() {
        let forever = AttemptPolicy::new(NonZeroU32::MIN, Duration::MAX);
        for now in [SystemTime::UNIX_EPOCH - 9 * SECOND, start()] {
            let tally = admitted(&forever, None, now);
            assert!(!Tally::standing(Some(&tally), now + 300 * DAY).is_admitted());
            assert_eq!(Tally::standing(Some(&tally), tally.opens_at), Admission::Admitted);
            let odd = Tally {
                forgotten_at: now,
                ..tally
            };
            assert_eq!(Tally::standing(Some(&odd), now), Admission::Admitted);
        }
    }
}
