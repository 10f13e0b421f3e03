//! Work that outlives the connection of its client.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// A future that runs to its end, even if it is dropped before.
///
/// When a client disconnects, the server drops the future of the handler. A handler that changes
/// data must not stop between two steps. If this future is dropped before its end, it passes the
/// wrapped future to `spawn`, which runs the rest in a task. A future that panicked is not spawned.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct RunsToEnd<F, S>
where
    S: FnOnce(Pin<Box<F>>),
{
    running: Option<(Pin<Box<F>>, S)>,
}

impl<F, S> RunsToEnd<F, S>
where
    S: FnOnce(Pin<Box<F>>),
{
    /// Wraps a future. `spawn` runs the rest of a dropped future in a task.
    pub fn new(future: F, spawn: S) -> Self {
        Self {
            running: Some((Box::pin(future), spawn)),
        }
    }
}

impl<F, S> Future for RunsToEnd<F, S>
where
    F: Future,
    S: FnOnce(Pin<Box<F>>) + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // taken out, so that a panic drops it
        let Some((mut future, spawn)) = self.running.take() else {
            return Poll::Pending;
        };
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            self.running = Some((future, spawn));
        }
        polled
    }
}

impl<F, S> Drop for RunsToEnd<F, S>
where
    S: FnOnce(Pin<Box<F>>),
{
    fn drop(&mut self) {
        if let Some((future, spawn)) = self.running.take() {
            spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::task::Waker;

    use tokio::sync::oneshot;

    use super::*;

    fn poll<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    /// H24: a future that has begun runs to its end, even if it is dropped.
    #[tokio::test]
    async fn dropped_future_runs_to_its_end() {
        let (release, released) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let work = async move {
            released.await.unwrap();
            done.send(()).unwrap();
        };
        let mut running = Box::pin(RunsToEnd::new(work, |rest| drop(tokio::spawn(rest))));
        assert!(poll(&mut running).is_pending());
        drop(running);
        release.send(()).unwrap();
        is_done.await.unwrap();
    }

    #[test]
    fn finished_future_is_not_spawned() {
        let mut running = Box::pin(RunsToEnd::new(async { 7 }, |_| panic!("spawned")));
        assert_eq!(poll(&mut running), Poll::Ready(7));
        drop(running);
    }

    #[test]
    fn panicked_future_is_not_spawned() {
        let mut running = Box::pin(RunsToEnd::new(async { panic!("a bug") }, |_| panic!("spawned")));
        assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut running))).is_err());
        drop(running);
    }
}
