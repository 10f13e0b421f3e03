//! What this crate asks of its host: the time and randomness.
//!
//! Storage has its own trait beside the logic that needs it, see [`IdempotencyStore`](crate::idempotency::IdempotencyStore).
//!
//! ```
//! use std::time::SystemTime;
//!
//! use http_conventions::ports::Clock;
//!
//! let clock: &dyn Clock = &SystemTime::now;
//! assert!(clock.now() > SystemTime::UNIX_EPOCH);
//! ```

use std::time::SystemTime;

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

/// Gives bytes that nobody can predict.
///
/// Any `Fn(&mut [u8])` is a source of entropy.
///
/// # Security
///
/// Infallible on purpose: a host that has no randomness must stop, not go on with less of it.
pub trait Entropy: Send + Sync {
    /// Overwrites the whole buffer with random bytes.
    fn fill(&self, buffer: &mut [u8]);
}

impl<F> Entropy for F
where
    F: Fn(&mut [u8]) + Send + Sync,
{
    fn fill(&self, buffer: &mut [u8]) {
        self(buffer);
    }
}

/// The randomness of the operating system.
#[cfg(feature = "os-entropy")]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

#[cfg(feature = "os-entropy")]
impl Entropy for OsEntropy {
    #[expect(clippy::expect_used, reason = "a host without randomness must not run")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system gives randomness");
    }
}
