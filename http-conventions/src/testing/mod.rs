//! For tests, exempt from semver: a clock that is moved by hand, entropy from a seed, and the conformance kits of the stores.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http_conventions::{ports::Clock, testing::ManualClock};
//!
//! let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
//! clock.advance(Duration::from_secs(60));
//! assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
//! ```

pub mod idempotency_store;
pub mod keyed_requests;
mod race;
pub mod rate_limit_store;

pub use crate::{
    __idempotency_store as idempotency_store, __keyed_requests as keyed_requests,
    __rate_limit_store as rate_limit_store,
};
pub use host_ports::testing::{ManualClock, SeededEntropy};
