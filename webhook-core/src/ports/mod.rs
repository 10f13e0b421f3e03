//! What this crate asks of its host: the time, randomness, one HTTP exchange and, if it wants, encryption of what is stored.
//!
//! Storage has its own traits beside the logic that calls them, such as [`receiver::Dedupe`](crate::receiver::Dedupe).
//! Each is held as an `Arc<dyn …>`; the in-memory ones are in [`memory`](crate::memory).
//!
//! ```
//! use std::time::SystemTime;
//! use webhook_core::ports::Clock;
//!
//! let clock: &dyn Clock = &SystemTime::now; // any function that tells the time is a clock
//! assert!(clock.now() > SystemTime::UNIX_EPOCH);
//! ```

mod sealer;
mod store_error;
mod transport;

use std::time::SystemTime;

pub use sealer::{SealError, Sealer};
pub use store_error::{StoreError, StoreErrorKind};
pub use transport::{ExchangeLimits, Transport, TransportError, TransportErrorKind};

/// Tells the wall-clock time.
///
/// Need not be monotonic. Any `Fn() -> SystemTime` is a clock, so `SystemTime::now` is one.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;
}

impl<F> Clock for F
where
    F: Fn() -> SystemTime + Send + Sync,
{
    fn now(&self) -> SystemTime {
        self()
    }
}

/// Gives random bytes fit for keys.
///
/// Infallible: a host without randomness must not run. Any `Fn(&mut [u8])` is one.
///
/// # Security
///
/// Secrets and event ids are made of these bytes. An implementation must be a cryptographically secure generator.
pub trait Entropy: Send + Sync {
    /// Overwrites `bytes` with random ones.
    fn fill(&self, bytes: &mut [u8]);
}

impl<F> Entropy for F
where
    F: Fn(&mut [u8]) + Send + Sync,
{
    fn fill(&self, bytes: &mut [u8]) {
        self(bytes);
    }
}

/// The randomness of the operating system.
#[cfg(feature = "os-entropy")]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

#[cfg(feature = "os-entropy")]
impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        #[expect(
            clippy::expect_used,
            reason = "without randomness every secret would be guessable"
        )]
        getrandom::fill(bytes).expect("the operating system gives randomness");
    }
}
