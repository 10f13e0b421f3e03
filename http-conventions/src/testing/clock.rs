//! A clock that stands still until it is moved.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use crate::ports::Clock;

/// A clock that is moved by hand. Clones share their time.
#[derive(Clone, Debug)]
pub struct ManualClock {
    time: Arc<Mutex<SystemTime>>,
}

impl ManualClock {
    /// A clock that shows this time.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self {
            time: Arc::new(Mutex::new(now)),
        }
    }

    /// Lets time pass.
    pub fn advance(&self, time: Duration) {
        let mut now = self.time();
        *now += time;
    }

    /// Sets the time, also backwards.
    pub fn set(&self, now: SystemTime) {
        *self.time() = now;
    }

    fn time(&self) -> MutexGuard<'_, SystemTime> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.time()
    }
}
