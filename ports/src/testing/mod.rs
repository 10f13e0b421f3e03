//! Test doubles of the ports, exempt from semantic versioning.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use host_ports::{Clock, testing::ManualClock};
//!
//! let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
//! clock.advance(Duration::from_secs(60));
//! assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
//! assert_eq!(clock.monotonic(), Duration::from_secs(60));
//! ```

mod clock;
mod entropy;
mod transport;

pub use clock::ManualClock;
pub use entropy::SeededEntropy;
pub use transport::ScriptedTransport;
