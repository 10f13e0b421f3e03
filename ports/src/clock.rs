use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A wall clock and a monotonic clock.
///
/// # Contract
///
/// - [`now`](Self::now) is the wall clock. It can be set forwards and backwards.
/// - [`monotonic`](Self::monotonic) never goes backwards and ignores changes of the wall clock. Its
///   origin is fixed for the life of the process and differs between processes, so values of two
///   processes cannot be compared.
/// - Both return without blocking: a request calls them several times.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use host_ports::Clock;
///
/// struct StoppedAt(SystemTime);
///
/// impl Clock for StoppedAt {
///     fn now(&self) -> SystemTime {
///         self.0
///     }
///     fn monotonic(&self) -> Duration {
///         Duration::ZERO
///     }
/// }
///
/// assert_eq!(StoppedAt(SystemTime::UNIX_EPOCH).now(), SystemTime::UNIX_EPOCH);
/// ```
pub trait Clock: Send + Sync {
    /// Current wall-clock time.
    fn now(&self) -> SystemTime;

    /// Time since a fixed moment of this process.
    fn monotonic(&self) -> Duration;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> SystemTime {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }
}

/// Wall clock and monotonic clock of the operating system.
#[cfg(feature = "os")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(feature = "os")]
impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only port that reads the clock of the system"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the only port that reads the clock of the system"
    )]
    fn monotonic(&self) -> Duration {
        use std::sync::LazyLock;
        use std::time::Instant;

        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        ORIGIN.elapsed()
    }
}

#[cfg(all(test, feature = "os"))]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_of_system_clock_advances() {
        let before = SystemClock.monotonic();
        let mut after = SystemClock.monotonic();
        for _ in 0..10_000_000 {
            assert!(after >= before);
            if after > before {
                return;
            }
            after = SystemClock.monotonic();
        }
        panic!("no time passed in ten million readings");
    }

    #[test]
    fn arc_of_clock_is_the_clock() {
        let shared: Arc<dyn Clock> = Arc::new(SystemClock);
        let before = SystemClock.now();
        assert!(Arc::clone(&shared).now() >= before - Duration::from_secs(60));
        assert!(shared.monotonic() <= SystemClock.monotonic());
    }
}
