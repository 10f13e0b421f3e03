//! Quotas: requests per period, and burst.

use std::time::Duration;

/// Longest period: ten years, so that no sum of times overflows.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// A number of requests per period, and a burst.
///
/// The bucket holds `burst` units. One spent unit becomes available again every `period / limit`,
/// rounded up to whole nanoseconds. In any interval of one period at most `burst + limit` requests
/// pass; the long-run rate is `limit` per period.
///
/// ```
/// use std::time::Duration;
///
/// use http_conventions::limits::Quota;
///
/// let quota = Quota::per(100, Duration::from_secs(60))?;
/// assert_eq!((quota.burst(), quota.interval()), (100, Duration::from_millis(600)));
/// assert_eq!(quota.with_burst(10)?.burst(), 10);
/// # Ok::<(), http_conventions::limits::InvalidQuota>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quota {
    limit: u32,
    period: Duration,
    burst: u32,
    /// Nanoseconds until one spent unit is available again.
    interval: u64,
}

impl Quota {
    /// Creates a quota of `limit` requests per `period`. The burst is `limit`.
    ///
    /// # Errors
    ///
    /// - [`InvalidQuota::Zero`] if `limit` or `period` is zero.
    /// - [`InvalidQuota::TooLong`] if the period is longer than ten years.
    pub fn per(limit: u32, period: Duration) -> Result<Self, InvalidQuota> {
        if limit == 0 || period.is_zero() {
            return Err(InvalidQuota::Zero);
        }
        let interval = u64::try_from(period.as_nanos().div_ceil(u128::from(limit)));
        let quota = Self {
            limit,
            period,
            burst: limit,
            interval: interval.map_err(|_| InvalidQuota::TooLong)?,
        };
        quota.with_burst(limit)
    }

    /// Sets the burst: the number of requests that pass at once on a full bucket.
    ///
    /// `Quota::per(1, every)?.with_burst(burst)?` and `Quota::per(burst, burst * every)?` have the
    /// same bucket; only the latter announces `burst` in `RateLimit-Policy`.
    ///
    /// # Errors
    ///
    /// - [`InvalidQuota::Zero`] if the burst is zero.
    /// - [`InvalidQuota::TooLong`] if an empty bucket takes longer than ten years to fill.
    pub fn with_burst(self, burst: u32) -> Result<Self, InvalidQuota> {
        let quota = Self { burst, ..self };
        match Duration::from_nanos(quota.interval).checked_mul(burst) {
            Some(Duration::ZERO) => Err(InvalidQuota::Zero),
            Some(all) if all <= LONGEST => Ok(quota),
            _ => Err(InvalidQuota::TooLong),
        }
    }

    /// Requests per period in the long run.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Period of the limit.
    #[must_use]
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// Requests that pass at once on a full bucket.
    #[must_use]
    pub const fn burst(&self) -> u32 {
        self.burst
    }

    /// Time until one spent unit is available again.
    #[must_use]
    pub const fn interval(&self) -> Duration {
        Duration::from_nanos(self.interval)
    }

    pub(super) const fn interval_nanoseconds(&self) -> u64 {
        self.interval
    }

    /// Nanoseconds until an empty bucket is full.
    pub(super) const fn capacity(&self) -> u64 {
        self.increment(self.burst)
    }

    /// Nanoseconds by which a request of this cost advances the state. A cost above the burst
    /// counts as the burst; otherwise the request could never pass.
    pub(super) const fn increment(&self, cost: u32) -> u64 {
        let cost = if cost < self.burst { cost } else { self.burst };
        // at most ten years, checked by `with_burst`
        self.interval.saturating_mul(cost as u64)
    }
}

/// Error for a [`Quota`] that is zero or too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidQuota {
    /// The limit, the period or the burst is zero, so no request would ever pass.
    #[error("limit, period and burst must be above zero")]
    Zero,
    /// The period, or the time in which an empty bucket fills, is longer than ten years.
    #[error("the period, or the time until the burst returns, is longer than ten years")]
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H15: a quota is a number per period; a quota that can never pass is refused.
    #[test]
    fn a_quota_is_a_number_in_a_period() {
        for (limit, period, interval) in [
            (1, 1_000_000_000, 1_000_000_000),
            (100, 1_000_000_000, 10_000_000),
            (4_000, 1_000_000_000, 250_000),
            // rounded up, so that never more than the quota passes
            (3, 1_000_000_000, 333_333_334),
            (u32::MAX, 1_000_000_000, 1),
        ] {
            let quota = Quota::per(limit, Duration::from_nanos(period)).unwrap();
            assert_eq!(quota.interval_nanoseconds(), interval, "{limit}");
            assert_eq!((quota.limit(), quota.burst()), (limit, limit));
        }
        let (second, long) = (Duration::from_secs(1), LONGEST + Duration::from_nanos(1));
        let one = Quota::per(1, LONGEST).unwrap();
        for (refused, expected) in [
            (Quota::per(0, second), InvalidQuota::Zero),
            (Quota::per(1, Duration::ZERO), InvalidQuota::Zero),
            (Quota::per(1, long), InvalidQuota::TooLong),
            (Quota::per(1, Duration::MAX), InvalidQuota::TooLong),
            (one.with_burst(0), InvalidQuota::Zero),
            (one.with_burst(2), InvalidQuota::TooLong),
            (one.with_burst(u32::MAX), InvalidQuota::TooLong),
        ] {
            assert_eq!(refused, Err(expected));
        }
    }
}
