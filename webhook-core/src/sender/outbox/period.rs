//! Half-open periods of time.

use std::{
    ops::{Range, RangeFrom, RangeTo},
    time::SystemTime,
};

/// Period of time with an inclusive start and an exclusive end. Default: all times.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use webhook_core::sender::Period;
///
/// let ten = SystemTime::UNIX_EPOCH + Duration::from_secs(36_000);
/// let eleven = ten + Duration::from_secs(3_600);
/// let hour = Period::from(ten..eleven);
/// assert!(hour.contains(ten) && !hour.contains(eleven));
/// assert!(Period::from(ten..).contains(eleven));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Period {
    /// Inclusive start; `None` for no limit.
    pub from: Option<SystemTime>,
    /// Exclusive end; `None` for no limit.
    pub before: Option<SystemTime>,
}

impl Period {
    /// Returns `true` if the instant is in the period.
    #[must_use]
    pub fn contains(&self, instant: SystemTime) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.before.is_none_or(|before| instant < before)
    }

    /// Returns `true` if the period has neither start nor end.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.from.is_none() && self.before.is_none()
    }
}

impl From<Range<SystemTime>> for Period {
    fn from(range: Range<SystemTime>) -> Self {
        Self {
            from: Some(range.start),
            before: Some(range.end),
        }
    }
}

impl From<RangeFrom<SystemTime>> for Period {
    fn from(range: RangeFrom<SystemTime>) -> Self {
        Self {
            from: Some(range.start),
            before: None,
        }
    }
}

impl From<RangeTo<SystemTime>> for Period {
    fn from(range: RangeTo<SystemTime>) -> Self {
        Self {
            from: None,
            before: Some(range.end),
        }
    }
}
