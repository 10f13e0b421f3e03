//! Clock arithmetic without overflow, and tolerated clock differences.

use std::time::{Duration, SystemTime};

/// Tolerated lead of client clocks, for the assertions and proofs that clients sign.
#[cfg(feature = "_signatures")]
pub(crate) const CLIENT_LEEWAY: Duration = Duration::from_secs(10);
/// Tolerated difference between the clocks of servers that share a replay store. A server that is
/// ahead must not purge keys that another still needs.
#[cfg(feature = "_signatures")]
pub(crate) const PURGE_ALLOWANCE: Duration = Duration::from_secs(60);

/// `Retry-After` of a server failure.
#[cfg(feature = "_signatures")]
pub(crate) const AFTER_A_FAULT: Duration = Duration::from_secs(5);

/// Adds `wait` to `time`. On overflow it returns `time`, so that an unbounded validity is none.
pub(crate) fn later(time: SystemTime, wait: Duration) -> SystemTime {
    time.checked_add(wait).unwrap_or(time)
}
