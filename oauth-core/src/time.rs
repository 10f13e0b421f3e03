//! Adding to the time that a clock tells, which may be any.

use std::time::{Duration, SystemTime};

/// `wait` after `time`; where the system can tell no such instant, `time` itself: what has no end is over at once.
pub(crate) fn later(time: SystemTime, wait: Duration) -> SystemTime {
    time.checked_add(wait).unwrap_or(time)
}
