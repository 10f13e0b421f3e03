//! The body of the response that carries every operation of a client.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::stream::Stream;

use super::event;
use super::streams::Missing;
use crate::response::GraphResponse;

pub(super) type Responses = Pin<Box<dyn Stream<Item = GraphResponse> + Send>>;
pub(super) type End = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The operations of one stream, which requests start and stop while the response is polled.
#[derive(Clone, Default)]
pub(super) struct Operations {
    shared: Arc<Mutex<Running>>,
}

#[derive(Default)]
struct Running {
    operations: Vec<Operation>,
    /// Whose turn it is: an operation that always has a response must not hold up the others.
    turn: usize,
    waker: Option<Waker>,
}

struct Operation {
    id: String,
    responses: Responses,
    /// Completes when the credentials it was started with are worth nothing any more.
    end: End,
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations").finish_non_exhaustive()
    }
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more may be started, as `id`, when there are at most `limit`.
    pub(super) fn check(&self, id: &str, limit: usize) -> Result<(), Missing> {
        self.lock().check(id, limit)
    }

    pub(super) fn start(
        &self,
        id: String,
        limit: usize,
        responses: Responses,
        end: End,
    ) -> Result<(), Missing> {
        let mut running = self.lock();
        // it may have been started since it was checked
        running.check(&id, limit)?;
        running.operations.push(Operation { id, responses, end });
        let waker = running.waker.take();
        // who is woken may come at once
        drop(running);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    pub(super) fn stop(&self, id: &str) {
        let mut running = self.lock();
        let at = running.operations.iter().position(|operation| operation.id == id);
        let stopped = at.map(|at| running.operations.remove(at));
        // what it drops is the host's, and may take a while
        drop(running);
        drop(stopped);
    }

    /// The next event; `None` when the credentials of an operation have ended.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut running = self.lock();
        running.waker = Some(cx.waker().clone());
        let mut operations = running.operations.iter_mut();
        if operations.any(|operation| operation.end.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(None);
        }
        for _ in 0..running.operations.len() {
            let at = running.turn.checked_rem(running.operations.len()).unwrap_or(0);
            running.turn = at + 1;
            let Some(operation) = running.operations.get_mut(at) else {
                break;
            };
            match operation.responses.as_mut().poll_next(cx) {
                Poll::Ready(Some(response)) => {
                    return Poll::Ready(Some(event::next_of(&operation.id, response)));
                }
                Poll::Ready(None) => {
                    let ended = running.operations.remove(at);
                    // as in `stop`
                    drop(running);
                    return Poll::Ready(Some(event::complete_of(&ended.id)));
                }
                Poll::Pending => {}
            }
        }
        Poll::Pending
    }
}

impl Running {
    fn check(&self, id: &str, limit: usize) -> Result<(), Missing> {
        if self.operations.iter().any(|operation| operation.id == id) {
            return Err(Missing::Runs);
        }
        if self.operations.len() >= limit {
            return Err(Missing::TooMany);
        }
        Ok(())
    }
}

/// The events of all operations. It ends without a word when credentials do: a client that lost its stream opens another.
pub(super) struct Events<D> {
    /// Both are dropped when it ends, or with it.
    open: Option<(Operations, D)>,
    end: End,
    greeted: bool,
}

impl<D> Events<D> {
    pub(super) fn new(operations: Operations, end: End, place: D) -> Self {
        Self {
            open: Some((operations, place)),
            end,
            greeted: false,
        }
    }
}

impl<D: Unpin> Stream for Events<D> {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let events = &mut *self;
        let Some((operations, _)) = &events.open else {
            return Poll::Ready(None);
        };
        if !events.greeted {
            events.greeted = true;
            return Poll::Ready(Some(Bytes::from_static(event::GREETING)));
        }
        let polled = match events.end.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => operations.poll(cx),
        };
        if polled == Poll::Ready(None) {
            events.open = None;
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use futures_util::stream;

    use super::*;

    /// Host code that runs when it is dropped or woken: how often the operations were free for others then.
    #[derive(Default)]
    struct HostCode {
        operations: Operations,
        free: AtomicUsize,
    }

    impl HostCode {
        fn run(&self) {
            let free = self.operations.shared.try_lock().is_ok();
            self.free.fetch_add(usize::from(free), Ordering::SeqCst);
        }
    }

    impl Wake for HostCode {
        fn wake(self: Arc<Self>) {
            self.run();
        }
    }

    struct Dropped(Arc<HostCode>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.run();
        }
    }

    /// G10: what the host does when it is woken, or when its operation ends, may take a while, and holds up no request.
    #[test]
    fn host_code_that_is_dropped_or_woken_holds_up_no_request() {
        let host = Arc::new(HostCode::default());
        let waker = Waker::from(Arc::clone(&host));
        let mut cx = Context::from_waker(&waker);
        assert_eq!(host.operations.poll(&mut cx), Poll::Pending);
        let dropped = Dropped(Arc::clone(&host));
        let responses = Box::pin(stream::poll_fn(move |_| {
            let _held = &dropped;
            Poll::Ready(None::<GraphResponse>)
        }));
        let end = Box::pin(std::future::pending::<()>());
        host.operations.start("1".to_owned(), 1, responses, end).unwrap();
        assert_eq!(host.free.load(Ordering::SeqCst), 1, "woken");
        let event = Poll::Ready(Some(event::complete_of("1")));
        assert_eq!(host.operations.poll(&mut cx), event);
        assert_eq!(host.free.load(Ordering::SeqCst), 2, "dropped");
    }
}
