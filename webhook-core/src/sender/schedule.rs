//! Retry schedule: seven attempts over two days by default, with growing gaps.
//!
//! A [`Schedule`] is the list of gaps between attempts. A jitter of ±50 % spreads each gap, so that
//! deliveries that failed together are not retried together. Jitter never shortens `Retry-After`.
//!
//! The schedule is pure: the caller passes a random number.
//!
//! ```
//! use std::time::Duration;
//! use webhook_core::sender::Schedule;
//!
//! let schedule = Schedule::default();
//! assert_eq!(schedule.attempts(), 7);
//! // after one attempt the second follows in 30 to 90 seconds
//! assert_eq!(schedule.delay_after(1, u64::MIN), Some(Duration::from_secs(30)));
//! assert!(schedule.delay_after(1, u64::MAX).unwrap() < Duration::from_secs(90));
//! // after seven attempts there is no further one
//! assert_eq!(schedule.delay_after(7, 0), None);
//! ```

use std::{sync::Arc, time::Duration};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Maximum gap. A longer one is probably a mistake in the unit.
const LONGEST_GAP: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const MOST_ATTEMPTS: usize = 32;

/// Gaps between the attempts of a delivery.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Schedule {
    gaps: Arc<[Duration]>,
}

/// Error: a list of gaps is not a schedule.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSchedule {
    /// There are more than 32 attempts.
    #[error("a schedule has at most 32 attempts")]
    TooManyAttempts,
    /// A gap is zero, which would retry in a tight loop.
    #[error("a gap between attempts must be longer than zero")]
    ZeroGap,
    /// A gap is shorter than the gap before it.
    #[error("a gap between attempts must not be shorter than the one before")]
    ShrinkingGap,
    /// A gap is longer than 7 days.
    #[error("a gap between attempts must not be longer than seven days")]
    GapTooLong,
    /// There is no attempt.
    #[error("a schedule has at least one attempt")]
    NoAttempt,
}

impl Schedule {
    /// Creates a schedule: a first attempt at once, and one more after each gap.
    ///
    /// # Errors
    ///
    /// [`InvalidSchedule`], the first rule that the list breaks.
    pub fn new(gaps: impl IntoIterator<Item = Duration>) -> Result<Self, InvalidSchedule> {
        // one gap more than allowed is enough to refuse an endless iterator
        let gaps: Arc<[Duration]> = gaps.into_iter().take(MOST_ATTEMPTS).collect();
        if gaps.len() >= MOST_ATTEMPTS {
            return Err(InvalidSchedule::TooManyAttempts);
        }
        if gaps.iter().any(Duration::is_zero) {
            return Err(InvalidSchedule::ZeroGap);
        }
        if gaps.iter().any(|gap| *gap > LONGEST_GAP) {
            return Err(InvalidSchedule::GapTooLong);
        }
        if !gaps.is_sorted() {
            return Err(InvalidSchedule::ShrinkingGap);
        }
        Ok(Self { gaps })
    }

    /// Creates a schedule of `attempts` attempts, with gaps that double from `first` up to `cap`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use webhook_core::sender::Schedule;
    /// let minutes = |n: u64| Duration::from_secs(60 * n);
    /// let doubling = Schedule::doubling(minutes(1), minutes(5), 5)?;
    /// assert_eq!(doubling, Schedule::new([minutes(1), minutes(2), minutes(4), minutes(5)])?);
    /// # Ok::<_, webhook_core::sender::InvalidSchedule>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidSchedule`] as for [`Schedule::new`].
    pub fn doubling(first: Duration, cap: Duration, attempts: u32) -> Result<Self, InvalidSchedule> {
        let gaps = attempts.checked_sub(1).ok_or(InvalidSchedule::NoAttempt)?;
        let doubled = std::iter::successors(Some(first), |gap| Some(gap.saturating_mul(2)));
        Self::new(
            doubled
                .map(|gap| gap.min(cap))
                .take(usize::try_from(gaps).unwrap_or(usize::MAX)),
        )
    }

    /// Maximum number of attempts.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.gaps.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// Delay before the next attempt, after `spent` attempts. Zero if `spent` is 0; `None` if the
    /// schedule is exhausted.
    ///
    /// `jitter` is a uniformly random number. It maps to a factor in [½, 1½).
    #[must_use]
    pub fn delay_after(&self, spent: u32, jitter: u64) -> Option<Duration> {
        match spent.checked_sub(1) {
            None => Some(Duration::ZERO),
            Some(index) => self
                .gaps
                .get(usize::try_from(index).ok()?)
                .map(|gap| jittered(*gap, jitter)),
        }
    }

    /// Longest gap between two attempts, without jitter.
    ///
    /// Pass it to
    /// [`with_longest_retry_gap`](crate::receiver::ReceiverBuilder::with_longest_retry_gap) of a
    /// receiver, which adds the jitter.
    #[must_use]
    pub fn longest_gap(&self) -> Duration {
        self.gaps.iter().max().copied().unwrap_or_default()
    }

    /// Longest time from the first to the last attempt, with jitter.
    #[must_use]
    pub fn longest_span(&self) -> Duration {
        self.gaps.iter().copied().map(stretched).sum()
    }
}

impl Default for Schedule {
    /// At once, then after 1 minute, 10 minutes, 1, 6, 12 and 24 hours.
    fn default() -> Self {
        Self {
            gaps: Arc::new([MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]),
        }
    }
}

/// Spreads `base` by ±50 %, in integers.
pub(super) fn jittered(base: Duration, jitter: u64) -> Duration {
    // `base` is at most 7 days, less than 2^50 nanoseconds, so the product stays below 2^114
    let spread = (base.as_nanos() * u128::from(jitter)) >> 64;
    base / 2 + Duration::from_nanos(u64::try_from(spread).unwrap_or(u64::MAX))
}

fn stretched(gap: Duration) -> Duration {
    gap + gap / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// W13: now, 1 min, 10 min, 1 h, 6 h, 12 h, 24 h: seven attempts.
    #[test]
    fn the_default_schedule_is_the_one_promised() {
        let schedule = Schedule::default();
        // the middle of the jitter is the gap itself
        let gaps: Vec<u64> = (0..=7)
            .map_while(|spent| schedule.delay_after(spent, 1 << 63))
            .map(|gap| gap.as_secs())
            .collect();
        assert_eq!(gaps, [0, 60, 600, 3_600, 21_600, 43_200, 86_400]);
        assert_eq!(schedule.attempts(), 7);
        assert_eq!(schedule.longest_gap(), Duration::from_secs(24 * 3_600));
        assert!(schedule.longest_span() < Duration::from_secs(72 * 3_600));
    }

    /// W13: a custom schedule is checked when it is created.
    #[test]
    fn a_custom_schedule_is_checked() {
        let seconds = Duration::from_secs;
        let check =
            |gaps: &[u64]| Schedule::new(gaps.iter().copied().map(seconds)).map(|made| made.attempts());
        assert_eq!(check(&[]), Ok(1));
        assert_eq!(check(&[1, 1, 2]), Ok(4));
        assert_eq!(check(&[1; 31]), Ok(32));
        assert_eq!(check(&[1; 32]), Err(InvalidSchedule::TooManyAttempts));
        assert_eq!(check(&[0, 1]), Err(InvalidSchedule::ZeroGap));
        assert_eq!(check(&[2, 1]), Err(InvalidSchedule::ShrinkingGap));
        assert_eq!(check(&[604_801]), Err(InvalidSchedule::GapTooLong));
        assert_eq!(
            Schedule::new(std::iter::repeat(seconds(1))),
            Err(InvalidSchedule::TooManyAttempts)
        );
        assert_eq!(
            Schedule::doubling(seconds(1), seconds(8), 0),
            Err(InvalidSchedule::NoAttempt)
        );
        assert_eq!(
            Schedule::doubling(seconds(1), seconds(8), u32::MAX),
            Err(InvalidSchedule::TooManyAttempts)
        );
    }

    proptest! {
        /// W14: jitter spreads a delay over half to one and a half of it, and no further.
        #[test]
        fn jitter_stays_within_half_of_the_delay(seconds in 1_u64..604_800, jitter: u64) {
            let base = Duration::from_secs(seconds);
            let delay = jittered(base, jitter);
            prop_assert!(delay >= base / 2);
            prop_assert!(delay < base + base / 2);
        }

        /// W14: gaps double up to the cap.
        #[test]
        fn doubling_gaps_double_up_to_the_cap(first in 1_u64..1_000, cap in 1_000_u64..100_000, attempts in 2_u32..32) {
            let schedule = Schedule::doubling(Duration::from_secs(first), Duration::from_secs(cap), attempts).unwrap();
            prop_assert_eq!(schedule.attempts(), attempts);
            for pair in schedule.gaps.windows(2) {
                prop_assert_eq!(pair[1], (pair[0] * 2).min(Duration::from_secs(cap)));
            }
        }
    }
}
