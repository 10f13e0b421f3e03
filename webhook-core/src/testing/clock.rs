//! A clock that stands still until it is moved.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use crate::ports::Clock;

/// A [`Clock`] that a test moves. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<SystemTime>>);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self(Arc::new(Mutex::new(now)))
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    /// Shows another time, earlier ones included.
    pub fn set(&self, now: SystemTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
