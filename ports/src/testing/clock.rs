use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::Clock;

/// A [`Clock`] that the test advances. Clones share their time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Times>>);

#[derive(Debug)]
struct Times {
    wall: SystemTime,
    monotonic: Duration,
}

impl ManualClock {
    /// Creates a clock at `now`, with monotonic time zero.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self(Arc::new(Mutex::new(Times {
            wall: now,
            monotonic: Duration::ZERO,
        })))
    }

    /// Advances both clocks.
    pub fn advance(&self, by: Duration) {
        let mut times = self.times();
        times.wall += by;
        times.monotonic += by;
    }

    /// Sets the wall clock, forwards or backwards. The monotonic time does not change.
    pub fn set(&self, now: SystemTime) {
        self.times().wall = now;
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        self.times().wall
    }

    fn monotonic(&self) -> Duration {
        self.times().monotonic
    }
}
