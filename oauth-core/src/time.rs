//! Adding to the time that a clock tells, which may be any; and how far clocks are apart.

use std::time::{Duration, SystemTime};

/// How far ahead the clocks of clients may be, which nobody of the server's keeps: for what they sign, assertions and proofs.
#[cfg(feature = "_signatures")]
pub(crate) const CLIENT_LEEWAY: Duration = Duration::from_secs(10);
/// How far the clocks of two servers that share a replay store may differ: one that is ahead purges what the other still accepts, so
/// that a name outlives what it was used for by as much.
#[cfg(feature = "_signatures")]
pub(crate) const PURGE_ALLOWANCE: Duration = Duration::from_secs(60);

/// When a peer may try again after a fault that is not theirs.
#[cfg(feature = "_signatures")]
pub(crate) const AFTER_A_FAULT: Duration = Duration::from_secs(5);

/// `wait` after `time`; where the system can tell no such instant, `time` itself: what has no end is over at once.
pub(crate) fn later(time: SystemTime, wait: Duration) -> SystemTime {
    time.checked_add(wait).unwrap_or(time)
}
