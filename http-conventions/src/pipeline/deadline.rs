//! Deadline of an exchange.

use std::{pin::pin, time::Duration};

use super::{EarlyResponse, Exchange};
use crate::{
    idempotency::{IntoReply, Reply},
    limits::Deadline,
};

/// Deadline and the monotonic time at which it is reached.
#[derive(Clone, Debug)]
pub(super) struct RunningDeadline {
    deadline: Deadline,
    end: Duration,
}

/// Behaviour of a handler at the deadline.
#[derive(Clone, Copy)]
pub(super) enum AtDeadline {
    /// The handler is dropped: it has no effects, or they are part of a transaction.
    Drop,
    /// The handler continues.
    Continue,
}

impl<Stage> Exchange<Stage> {
    /// Sets the deadline, which begins now. It replaces an earlier one.
    ///
    /// At the deadline:
    ///
    /// - The handler of a safe method is dropped, and the client gets 503 (or 504, see
    ///   [`Deadline`]).
    /// - The handler of an unsafe method continues, because a part of its effects may have
    ///   happened. Its response is sent late, unless the host runs the exchange in a task and
    ///   [waits](Self::wait_for) for the task.
    /// - The handler of [`run_in_transaction`](Exchange::run_in_transaction) is dropped if it holds
    ///   a key. If the transaction has committed, the client gets the stored response. Otherwise it
    ///   gets 503, and the key is free for a retry.
    ///
    /// A handler that would begin after the deadline does not run, and its key stays free.
    ///
    /// # Contract
    ///
    /// When the handler of a held key is dropped, its transaction must roll back, or the store must
    /// refuse its settlement, see [`Settlement`](crate::idempotency::Settlement).
    pub fn with_deadline(mut self, deadline: &Deadline) -> Self {
        let now = self.conventions.0.clock.monotonic();
        self.deadline = Some(Box::new(RunningDeadline {
            deadline: deadline.clone(),
            end: now.saturating_add(deadline.duration()),
        }));
        self
    }

    /// Waits for the end of a task that runs this exchange, at most until the deadline. Call it on
    /// a clone of the exchange.
    ///
    /// The task continues after the deadline. The response of its handler is stored under the
    /// idempotency key, and a retry gets that response.
    ///
    /// ```
    /// # use bytes::Bytes;
    /// # use http::{Request, Response};
    /// # use http_conventions::{
    /// #     idempotency::KeyScope,
    /// #     limits::Deadline,
    /// #     pipeline::{Conventions, EarlyResponse},
    /// # };
    /// async fn respond(
    ///     conventions: Conventions,
    ///     deadline: &Deadline,
    ///     request: Request<Bytes>,
    /// ) -> Result<Response<Bytes>, EarlyResponse> {
    ///     let exchange = conventions.begin(&request).admit(&request)?;
    ///     let exchange = exchange.skip_rate_limit().with_deadline(deadline);
    ///     let waiting = exchange.clone();
    ///     let task = tokio::spawn(async move {
    ///         let handler = async { Response::new(Bytes::new()) };
    ///         let scope = KeyScope::new("user-7", "/v1/charges");
    ///         exchange.run(&request, scope, handler).await
    ///     });
    ///     let ended = waiting.wait_for(task).await?;
    ///     Ok(ended.expect("the runtime runs, and a panic of the handler is a response"))
    /// }
    /// ```
    ///
    /// # Contract
    ///
    /// `task` is dropped at the deadline. Pass a handle whose task continues without it, such as
    /// `tokio::task::JoinHandle`.
    ///
    /// # Errors
    ///
    /// 503 (or 504, see [`Deadline`]) at the deadline, as a finished [`EarlyResponse`].
    pub async fn wait_for<T>(self, task: impl Future<Output = T>) -> Result<T, EarlyResponse> {
        let Some(running) = &self.deadline else {
            return Ok(task.await);
        };
        let bounded = running.deadline.bound_by(self.time_left(running), task).await;
        bounded.map_err(|problem| {
            self.refuse(
                problem.with_detail("the request was not completed in time; it may still take effect"),
            )
        })
    }

    /// Runs the handler, and drops it at the deadline if `at_deadline` says so.
    pub(super) async fn run_until_deadline<R: IntoReply>(
        &self,
        at_deadline: AtDeadline,
        handler: impl Future<Output = R>,
    ) -> Reply {
        let mut handler = pin!(handler);
        let problems = self.conventions.problems();
        let Some(running) = &self.deadline else {
            return handler.as_mut().await.into_reply(problems);
        };
        let left = self.time_left(running);
        match at_deadline {
            _ if left.is_zero() => Reply::NothingHappened(running.deadline.problem()),
            AtDeadline::Continue => handler.as_mut().await.into_reply(problems),
            AtDeadline::Drop => {
                let bounded = running.deadline.bound_by(left, handler.as_mut()).await;
                bounded.map_or_else(Reply::OutcomeUnknown, |output| output.into_reply(problems))
            }
        }
    }

    fn time_left(&self, running: &RunningDeadline) -> Duration {
        let now = self.conventions.0.clock.monotonic();
        running.end.saturating_sub(now)
    }
}
