//! What this crate asks of its host: the time and randomness.
//!
//! Storage has its own traits beside the logic that calls them.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::ports::Clock;
//!
//! let stopped = || SystemTime::UNIX_EPOCH + Duration::from_secs(60);
//! assert_eq!(stopped.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
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

/// Supplies unpredictable bytes.
///
/// # Security
///
/// Codes, tokens and verifiers are made of these bytes: only a cryptographically secure generator will do. A
/// host that has no randomness must not run, so there is no error to report.
pub trait Entropy: Send + Sync {
    /// Overwrites all of `bytes` with random ones.
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

/// The operating system's random number generator.
#[cfg(feature = "os-entropy")]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

#[cfg(feature = "os-entropy")]
impl Entropy for OsEntropy {
    #[expect(
        clippy::expect_used,
        reason = "a process that cannot draw random bytes must not issue tokens"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system supplies random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "os-entropy")]
    #[test]
    fn the_system_fills_every_call_differently() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        OsEntropy.fill(&mut first);
        OsEntropy.fill(&mut second);
        assert_ne!(first, second);
    }

    #[test]
    fn closures_are_ports() {
        fn takes(_: &dyn Clock, _: &dyn Entropy) {}
        takes(&|| SystemTime::UNIX_EPOCH, &|bytes: &mut [u8]| bytes.fill(7));
    }
}
