//! Estimate of the error of the local clock, from the `Date` of the receivers' responses.
//!
//! A receiver refuses a signature whose timestamp is more than five minutes off, usually with 400
//! or 401. If the sender's own clock is wrong, all receivers refuse its messages. So a dispatcher
//! compares its clock with the `Date` of each response ([RFC 9110
//! §6.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1)). The clock counts as skewed if
//! the median difference over all hosts exceeds 60 seconds, and if
//!
//! - at least three hosts agree, or
//! - fewer hosts are known, all of them agree, and the local clock has moved by more than 60
//!   seconds against the monotonic clock in the same direction.
//!
//! A single receiver with a wrong clock is outvoted. Until three hosts are known, an error that all
//! known hosts show is [undecided](SkewEstimator::is_undecided) for ten minutes.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::sender::SkewEstimator;
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
//! let mut estimator = SkewEstimator::default();
//! for host in ["a.example", "b.example", "c.example"] {
//!     assert_eq!(estimator.skew(), None);
//!     estimator.observe(host, now - Duration::from_secs(600), now, Duration::ZERO);
//! }
//! assert_eq!(estimator.skew().map(|skew| skew.seconds()), Some(600));
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, SystemTime},
};

/// Largest error of a clock that is ignored, in seconds.
const TOLERANCE: i64 = 60;

/// Number of hosts that confirm a skew without a step of the local clock.
const QUORUM: usize = 3;

/// Time after which the observation of a host is forgotten.
const MEMORY: Duration = Duration::from_secs(600);

/// Maximum time for which the error that a host shows is undecided.
const LEARNING: Duration = Duration::from_secs(600);

/// Maximum number of hosts; further ones are ignored until others are forgotten.
const MOST_HOSTS: usize = 1_024;

/// Confirmed error of the local clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClockSkew(i64);

impl ClockSkew {
    /// Local clock minus the clocks of the receivers, in seconds: positive if the local clock is
    /// ahead.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }
}

impl fmt::Display for ClockSkew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.0 < 0 { "behind" } else { "ahead" };
        write!(f, "the local clock is {} s {side}", self.0.unsigned_abs())
    }
}

/// Estimator of the [`ClockSkew`]: the last `Date` of each host, for ten minutes.
#[derive(Clone, Debug, Default)]
pub struct SkewEstimator {
    hosts: BTreeMap<String, Observation>,
    start: Option<Reading>,
    step: i64,
}

#[derive(Clone, Copy, Debug)]
struct Observation {
    skew: i64,
    at: Duration,
    /// Time of the first observation of an error in the same direction.
    since: Duration,
}

impl Observation {
    /// Direction of the error: -1, 0 or 1.
    fn side(&self) -> i64 {
        side(self.skew)
    }
}

/// Both clocks at the first observation.
#[derive(Clone, Copy, Debug)]
struct Reading {
    wall: SystemTime,
    monotonic: Duration,
}

impl SkewEstimator {
    /// Records that `host` sent this `Date` in a response that arrived at `now`, when the monotonic
    /// clock showed `monotonic`.
    ///
    /// At most 1,024 hosts are kept, each for ten minutes after its last response.
    pub fn observe(&mut self, host: &str, date: SystemTime, now: SystemTime, monotonic: Duration) {
        let wall = now;
        let start = *self.start.get_or_insert(Reading { wall, monotonic });
        let passed = monotonic.saturating_sub(start.monotonic);
        let expected = start.wall.checked_add(passed).unwrap_or(start.wall);
        self.step = seconds_between(now, expected);
        self.hosts
            .retain(|_, seen| monotonic.saturating_sub(seen.at) <= MEMORY);
        if self.hosts.len() >= MOST_HOSTS && !self.hosts.contains_key(host) {
            return;
        }
        let (skew, at) = (seconds_between(now, date), monotonic);
        let before = self.hosts.get(host).filter(|seen| seen.side() == side(skew));
        let since = before.map_or(monotonic, |seen| seen.since);
        self.hosts
            .insert(host.to_owned(), Observation { skew, at, since });
    }

    /// Returns the error of the local clock, if it is confirmed.
    #[must_use]
    pub fn skew(&self) -> Option<ClockSkew> {
        let mut skews: Vec<i64> = self.hosts.values().map(|seen| seen.skew).collect();
        skews.sort_unstable();
        let median = *skews.get(skews.len() / 2)?;
        let opposite = *skews.get(skews.len().checked_sub(1)? / 2)?;
        let agrees = |skew: i64| skew.abs() > TOLERANCE && skew.signum() == median.signum();
        if !agrees(median) || !agrees(opposite) {
            return None;
        }
        let agreeing = skews.iter().filter(|skew| agrees(**skew)).count();
        let is_unanimous = agreeing == skews.len();
        let is_confirmed = agreeing >= QUORUM || (is_unanimous && agrees(self.step));
        is_confirmed.then_some(ClockSkew(median))
    }

    /// Returns the confirmed error if it may explain a response that arrived at `now`: the response
    /// has no `Date`, or its `Date` shows the same error.
    #[must_use]
    pub fn explains(&self, date: Option<SystemTime>, now: SystemTime) -> Option<ClockSkew> {
        self.skew().filter(|skew| {
            let own = date.map(|date| seconds_between(now, date));
            own.is_none_or(|own| side(own) == skew.0.signum())
        })
    }

    /// Returns `true` while the error that `host` shows is neither confirmed nor contradicted:
    /// fewer than three hosts are known, all of them show an error in the same direction, and
    /// `host` has shown it for at most ten minutes.
    #[must_use]
    pub fn is_undecided(&self, host: &str, monotonic: Duration) -> bool {
        let Some(own) = self.hosts.get(host) else {
            return false;
        };
        own.side() != 0
            && monotonic.saturating_sub(own.since) <= LEARNING
            && self.hosts.len() < QUORUM
            && self.hosts.values().all(|seen| seen.side() == own.side())
            && self.skew().is_none()
    }
}

/// Direction of an error: 0 within the tolerance.
fn side(skew: i64) -> i64 {
    if skew.abs() > TOLERANCE { skew.signum() } else { 0 }
}

/// `time` minus `other` in whole seconds.
fn seconds_between(time: SystemTime, other: SystemTime) -> i64 {
    let seconds = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(other) {
        Ok(ahead) => seconds(ahead),
        Err(error) => -seconds(error.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> SystemTime {
        let seconds = u64::try_from(1_700_000_000 + seconds).unwrap();
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// Feeds the errors of the local clock against hosts; all at one moment.
    fn estimate(skews: &[i64]) -> SkewEstimator {
        let mut estimator = SkewEstimator::default();
        for (host, skew) in skews.iter().enumerate() {
            estimator.observe(&format!("{host}.example"), at(-skew), at(0), Duration::ZERO);
        }
        estimator
    }

    /// W30: three hosts confirm a skew; a minority never does.
    #[test]
    fn three_agreeing_hosts_confirm_a_skew() {
        for (skews, expected) in [
            (&[][..], None),
            (&[600], None),
            (&[600, 600], None),
            (&[600, 601, 602], Some(601)),
            (&[-600, -600, -600], Some(-600)),
            (&[61, 61, 61], Some(61)),
            (&[60, 60, 60], None),
            // one to three wrong receivers among right ones
            (&[600, 0, 0], None),
            (&[600, 600, 0], None),
            (&[600, 600, 600, 0, 0, 0], None),
            (&[600, 600, 600, 0, 0], Some(600)),
            (&[600, -600, 600, -600, 600, -600], None),
        ] {
            let skew = estimate(skews).skew().map(ClockSkew::seconds);
            assert_eq!(skew, expected, "{skews:?}");
        }
    }

    /// W30: a single host confirms a skew only together with a step of the local clock.
    #[test]
    fn single_host_needs_a_step_of_the_local_clock() {
        let observe = |step: i64, skew: i64| {
            let mut estimator = SkewEstimator::default();
            estimator.observe("a.example", at(0), at(0), Duration::ZERO);
            let now = at(100 + step);
            estimator.observe("a.example", at(100 + step - skew), now, Duration::from_secs(100));
            estimator.skew().map(ClockSkew::seconds)
        };
        assert_eq!(observe(0, 600), None);
        assert_eq!(observe(600, 600), Some(600));
        assert_eq!(observe(-3_600, -3_600), Some(-3_600));
        assert_eq!(observe(-600, 600), None, "the step has the other direction");
        assert_eq!(observe(600, 0), None, "the step corrected the clock");
    }

    /// W30: the skew does not explain a refusal whose own `Date` agrees with the local clock.
    #[test]
    fn right_date_of_the_receiver_is_no_skew() {
        let estimator = estimate(&[600, 600, 600]);
        assert!(estimator.explains(None, at(0)).is_some());
        assert!(estimator.explains(Some(at(-600)), at(0)).is_some());
        assert!(estimator.explains(Some(at(0)), at(0)).is_none());
        assert!(estimator.explains(Some(at(600)), at(0)).is_none());
    }

    /// W30: before three hosts are known, an error that all of them show is undecided.
    #[test]
    fn error_of_all_known_hosts_is_undecided() {
        for (skews, expected) in [
            (&[600][..], true),
            (&[600, 601], true),
            (&[60], false),
            (&[600, 0], false),
            (&[600, -600], false),
            // the first is confirmed, the second outvoted
            (&[600, 600, 600], false),
            (&[600, 600, 0], false),
        ] {
            let estimator = estimate(skews);
            assert_eq!(
                estimator.is_undecided("0.example", Duration::ZERO),
                expected,
                "{skews:?}"
            );
        }
        assert!(!SkewEstimator::default().is_undecided("0.example", Duration::ZERO));
    }

    /// W30: the error of a single host is undecided for ten minutes, from its first observation in
    /// the same direction.
    #[test]
    fn error_is_undecided_for_ten_minutes() {
        let mut estimator = SkewEstimator::default();
        let mut undecided_at = |skew: i64, seconds: u64| {
            let (passed, now) = (Duration::from_secs(seconds), at(seconds.cast_signed()));
            let date = at(seconds.cast_signed() - skew);
            estimator.observe("a.example", date, now, passed);
            estimator.is_undecided("a.example", passed)
        };
        assert!(undecided_at(600, 0));
        assert!(undecided_at(600, 300));
        assert!(undecided_at(700, 600));
        assert!(!undecided_at(600, 601));
        assert!(undecided_at(-600, 660));
        assert!(!undecided_at(0, 720));
        assert!(undecided_at(600, 780));
    }

    /// W30: the estimate is bounded, and forgets hosts after ten minutes.
    #[test]
    fn hosts_are_bounded_and_forgotten() {
        let mut estimator = SkewEstimator::default();
        for host in 0..2_000 {
            estimator.observe(&format!("{host}.example"), at(-600), at(0), Duration::ZERO);
        }
        assert_eq!(estimator.hosts.len(), MOST_HOSTS);
        let later = Duration::from_secs(601);
        estimator.observe("new.example", at(601), at(601), later);
        assert_eq!(estimator.hosts.len(), 1);
        assert_eq!(estimator.skew(), None);
    }
}
