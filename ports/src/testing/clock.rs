use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use crate::{Clock, Sleep, Timer};

/// A [`Clock`] and [`Timer`] that the test advances. Clones share their time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Times>>);

#[derive(Debug)]
struct Times {
    wall: SystemTime,
    monotonic: Duration,
    sleepers: Vec<(Duration, Waker)>,
}

impl ManualClock {
    /// Creates a clock at `now`, with monotonic time zero.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self(Arc::new(Mutex::new(Times {
            wall: now,
            monotonic: Duration::ZERO,
            sleepers: Vec::new(),
        })))
    }

    /// Advances both clocks, and ends the sleeps whose time has passed.
    pub fn advance(&self, by: Duration) {
        let mut times = self.times();
        times.wall += by;
        times.monotonic += by;
        let now = times.monotonic;
        let ended = times.sleepers.extract_if(.., |(end, _)| *end <= now);
        ended.for_each(|(_, waker)| waker.wake());
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

impl Timer for ManualClock {
    fn sleep(&self, duration: Duration) -> Sleep {
        let clock = self.clone();
        let end = clock.monotonic().saturating_add(duration);
        Box::pin(poll_fn(move |context| {
            let mut times = clock.times();
            if times.monotonic >= end {
                return Poll::Ready(());
            }
            let waker = context.waker();
            if !times
                .sleepers
                .iter()
                .any(|(at, sleeper)| *at == end && sleeper.will_wake(waker))
            {
                times.sleepers.push((end, waker.clone()));
            }
            Poll::Pending
        }))
    }
}
