//! Addition of times without overflow, and tolerated clock differences.

use std::time::{Duration, SystemTime};

/// Tolerated clock difference between client and server: 10 seconds. It applies to the times in
/// client assertions and DPoP proofs.
#[cfg(feature = "_signatures")]
pub(crate) const CLIENT_LEEWAY: Duration = Duration::from_secs(10);
/// Tolerated clock difference between servers that share a replay store: 60 seconds. A server whose
/// clock is ahead must not purge a key that another server still needs.
#[cfg(feature = "_signatures")]
pub(crate) const PURGE_ALLOWANCE: Duration = Duration::from_secs(60);

/// `Retry-After` of a response 503: 5 seconds.
#[cfg(feature = "_signatures")]
pub(crate) const AFTER_A_FAULT: Duration = Duration::from_secs(5);

/// Adds `wait` to `time`. On overflow it returns `time`: a lifetime that the clock cannot represent
/// becomes zero.
pub(crate) fn later(time: SystemTime, wait: Duration) -> SystemTime {
    time.checked_add(wait).unwrap_or(time)
}
