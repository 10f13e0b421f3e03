//! A clock that runs fast, so that the comparison need not wait for the expiry of a token. A
//! service uses `SystemClock`.

use std::time::{Duration, Instant, SystemTime};

use oauth_core::ports::Clock;

#[derive(Clone)]
pub(crate) struct FastClock {
    speed: u32,
    started: (SystemTime, Instant),
}

impl FastClock {
    pub(crate) fn new(speed: u32) -> Self {
        Self {
            speed,
            started: (SystemTime::now(), Instant::now()),
        }
    }
}

impl Clock for FastClock {
    fn now(&self) -> SystemTime {
        self.started.0 + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        self.started.1.elapsed() * self.speed
    }
}
