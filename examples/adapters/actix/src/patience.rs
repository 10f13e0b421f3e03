//! The time limit of a wait.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

/// A time limit that runs anew for each wait, with one timer for all of them.
pub(crate) struct Patience {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub(crate) const fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// Completes when the wait that began at `since` has reached its limit.
    pub(crate) fn poll_end(&mut self, since: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let Some(end) = since.checked_add(self.limit) else {
            return Poll::Pending;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if timer.deadline() != end {
            timer.as_mut().reset(end);
        }
        timer.as_mut().poll(cx)
    }
}
