//! The clock of the demo: the machine's time plus an offset that the tour increases.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use host_ports::{Clock, SystemClock};
use tokio::sync::Notify;

/// The machine's time plus an offset, which [`advance`](Self::advance) increases. An advance wakes
/// the tasks that wait in [`sleep_until`](Self::sleep_until).
///
/// One value serves as the clock of all crates of the suite.
#[derive(Clone, Default)]
pub struct DemoClock {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    lead_in_millis: AtomicU64,
    advanced: Notify,
}

impl DemoClock {
    /// Creates a clock without an offset.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        SystemClock.now() + self.lead()
    }

    fn lead(&self) -> Duration {
        Duration::from_millis(self.shared.lead_in_millis.load(Ordering::SeqCst))
    }

    /// Adds `by` to the offset and wakes every [`sleep_until`](Self::sleep_until).
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.shared.lead_in_millis.fetch_add(millis, Ordering::SeqCst);
        self.shared.advanced.notify_waiters();
    }

    /// Waits until the clock reaches `time`, in real time or by an [`advance`](Self::advance).
    pub async fn sleep_until(&self, time: SystemTime) {
        loop {
            let advanced = self.shared.advanced.notified();
            let Ok(left) = time.duration_since(self.now()) else {
                return;
            };
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                () = advanced => {}
            }
        }
    }
}

impl Clock for DemoClock {
    fn now(&self) -> SystemTime {
        Self::now(self)
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic() + self.lead()
    }
}

impl fmt::Debug for DemoClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DemoClock").field("now", &self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn advance_wakes_waiters_that_are_due() {
        let clock = DemoClock::new();
        let time = clock.now() + Duration::from_secs(3600);
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(time).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        clock.advance(Duration::from_secs(3600));
        waiting.await.unwrap();
    }
}
