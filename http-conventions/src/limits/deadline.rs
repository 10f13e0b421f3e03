//! Deadline of a request.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use super::RetryAfter;
use crate::{
    errors::{ErrorStatus, Problem},
    ports::Timer,
};

const RETRY: Duration = Duration::from_secs(1);

/// Longest duration of the work on a request, for example of one route. Cheap to clone.
///
/// After this time the client gets 503. A gateway that waits for another server sends
/// [504](Self::with_gateway_timeout) ([RFC 9110
/// §15.6.5](https://www.rfc-editor.org/rfc/rfc9110#section-15.6.5)). Both have `Retry-After`.
#[derive(Clone)]
pub struct Deadline {
    timer: Arc<dyn Timer>,
    duration: Duration,
    is_gateway: bool,
    retry_after: RetryAfter,
}

impl Deadline {
    /// Creates a deadline. `timer` is the timer of the host's runtime.
    #[must_use]
    pub fn new(timer: impl Timer + 'static, duration: Duration) -> Self {
        Self {
            timer: Arc::new(timer),
            duration,
            is_gateway: false,
            retry_after: RetryAfter::new(RETRY),
        }
    }

    /// Sends 504 instead of 503.
    #[must_use]
    pub fn with_gateway_timeout(mut self) -> Self {
        self.is_gateway = true;
        self
    }

    /// Sets `Retry-After`, default 1 s.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: RetryAfter) -> Self {
        self.retry_after = retry_after;
        self
    }

    /// Waits for `work`, and drops it at the deadline.
    ///
    /// # Contract
    ///
    /// The work can be stopped at any `.await`. Pass work without effects, or the handle of a task:
    /// the task continues when its handle is dropped.
    ///
    /// # Errors
    ///
    /// The [problem](Self::problem) of a request that took too long.
    pub async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T, Problem> {
        self.bound_by(self.duration, work).await
    }

    /// Waits for `work`, and drops it after `duration`.
    pub(crate) async fn bound_by<T>(
        &self,
        duration: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, Problem> {
        let (mut work, mut sleep) = (pin!(work), self.timer.sleep(duration));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => sleep.as_mut().poll(context).map(|()| Err(self.problem())),
        })
        .await
    }

    /// Longest duration of the work.
    pub(crate) const fn duration(&self) -> Duration {
        self.duration
    }

    /// Problem of a request that took too long: 503, or 504 for a gateway.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let problem = match self.is_gateway {
            true => Problem::new(ErrorStatus::GATEWAY_TIMEOUT).with_retry_after(self.retry_after),
            false => Problem::service_unavailable(self.retry_after),
        };
        problem.with_detail("the request was not completed in time")
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline")
            .field("duration", &self.duration)
            .field("is_gateway", &self.is_gateway)
            .field("retry_after", &self.retry_after)
            .finish_non_exhaustive()
    }
}
