use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::ports::Clock;

/// A clock that moves when it is told to. Clones show the same time.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use oauth_core::ports::Clock;
/// use oauth_core::testing::ManualClock;
///
/// let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<Mutex<SystemTime>>,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self {
            now: Arc::new(Mutex::new(now)),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    /// Sets the clock, also backwards.
    pub fn set(&self, now: SystemTime) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
