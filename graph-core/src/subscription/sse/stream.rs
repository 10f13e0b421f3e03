//! Body of the response that carries all operations of a client.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::stream::Stream;

use super::event;
use super::streams::Missing;
use crate::response::GraphResponse;
use crate::subscription::OperationId;

pub(super) type Responses = Pin<Box<dyn Stream<Item = GraphResponse> + Send>>;
pub(super) type End = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Operations of one stream. Requests start and stop them while the response is polled.
///
/// Polling or dropping an operation runs host code, which may be slow. Neither happens while the
/// lock of this type is held, so requests do not wait for host code.
#[derive(Clone, Default)]
pub(super) struct Operations {
    shared: Arc<Mutex<Board>>,
}

#[derive(Default)]
struct Board {
    running: Vec<Arc<Operation>>,
    /// `true` if `running` changed since the stream last read it.
    changed: bool,
    waker: Option<Waker>,
}

/// One run of an operation; the client may reuse its id later.
struct Operation {
    id: OperationId,
    /// Locked while polled; `None` after the end. The holder of this lock takes no other lock.
    task: Mutex<Option<Task>>,
}

struct Task {
    responses: Responses,
    /// Completes when the credentials of the operation expire.
    end: End,
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations").finish_non_exhaustive()
    }
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, Board> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that an operation `id` may start, with at most `limit` operations.
    pub(super) fn check(&self, id: &OperationId, limit: usize) -> Result<(), Missing> {
        self.lock().check(id, limit)
    }

    pub(super) fn start(
        &self,
        id: OperationId,
        limit: usize,
        responses: Responses,
        end: End,
    ) -> Result<(), Missing> {
        let mut board = self.lock();
        // checked again, because a concurrent request may have started the same id
        board.check(&id, limit)?;
        let task = Mutex::new(Some(Task { responses, end }));
        board.running.push(Arc::new(Operation { id, task }));
        board.changed = true;
        let waker = board.waker.take();
        // unlocked first: the woken task may poll at once
        drop(board);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Stops the operation and drops it, or lets the running poll drop it. It yields no further
    /// events.
    pub(super) fn stop(&self, id: &OperationId) {
        let mut board = self.lock();
        let at = board.running.iter().position(|operation| operation.id == *id);
        let stopped = at.map(|at| board.running.remove(at));
        board.changed |= stopped.is_some();
        drop(board);
        // if the stream is polling the operation, the stream drops it after the poll
        let task = stopped
            .as_ref()
            .and_then(|stopped| match stopped.task.try_lock() {
                Ok(mut task) => task.take(),
                Err(TryLockError::Poisoned(task)) => task.into_inner().take(),
                Err(TryLockError::WouldBlock) => None,
            });
        // dropped without the lock: it is host code
        drop(task);
    }

    /// Returns the running operations if they changed, and registers the waker.
    fn look(&self, cx: &Context<'_>) -> Option<Vec<Arc<Operation>>> {
        let mut board = self.lock();
        board.waker = Some(cx.waker().clone());
        mem::take(&mut board.changed).then(|| board.running.clone())
    }

    fn runs(&self, operation: &Arc<Operation>) -> bool {
        self.lock()
            .running
            .iter()
            .any(|running| Arc::ptr_eq(running, operation))
    }

    /// Removes the operation; returns `true` if it was still running.
    fn remove(&self, operation: &Arc<Operation>) -> bool {
        let mut board = self.lock();
        let at = board
            .running
            .iter()
            .position(|running| Arc::ptr_eq(running, operation));
        at.map(|at| board.running.remove(at)).is_some()
    }
}

impl Board {
    fn check(&self, id: &OperationId, limit: usize) -> Result<(), Missing> {
        if self.running.iter().any(|operation| operation.id == *id) {
            return Err(Missing::Runs);
        }
        if self.running.len() >= limit {
            return Err(Missing::TooMany);
        }
        Ok(())
    }
}

impl Operation {
    fn task(&self) -> MutexGuard<'_, Option<Task>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls the next response; `None` at the end and after a stop.
    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<GraphResponse>> {
        match &mut *self.task() {
            Some(task) => task.responses.as_mut().poll_next(cx),
            None => Poll::Ready(None),
        }
    }

    fn poll_end(&self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self.task() {
            Some(task) => task.end.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Drops the operation's stream.
    fn end(&self) {
        let task = self.task().take();
        drop(task);
    }
}

/// Operations of one stream, which polls them in turn.
struct Driven {
    shared: Operations,
    operations: Vec<Arc<Operation>>,
    /// Index of the next operation to poll (round robin), so that a busy operation does not starve
    /// others.
    turn: usize,
}

impl Driven {
    /// Polls the next event; `None` when the credentials of an operation expired.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(running) = self.shared.look(cx) {
            self.operations = running;
        }
        if self
            .operations
            .iter()
            .any(|operation| operation.poll_end(cx).is_ready())
        {
            return Poll::Ready(None);
        }
        for _ in 0..self.operations.len() {
            let at = self.turn.checked_rem(self.operations.len()).unwrap_or(0);
            self.turn = at + 1;
            let Some(operation) = self.operations.get(at) else {
                break;
            };
            let event = match operation.poll_next(cx) {
                Poll::Ready(Some(response)) if self.shared.runs(operation) => {
                    return Poll::Ready(Some(event::next_of(&operation.id, response)));
                }
                Poll::Pending if self.shared.runs(operation) => continue,
                Poll::Ready(None) if self.shared.remove(operation) => Some(event::complete_of(&operation.id)),
                // stopped while it was polled
                _ => None,
            };
            operation.end();
            self.operations.remove(at);
            // the next operation moved to this index
            self.turn = at;
            if event.is_some() {
                return Poll::Ready(event);
            }
        }
        Poll::Pending
    }
}

/// Events of all operations. If credentials expire, the stream ends without an event, and the
/// client reconnects.
pub(super) struct Events<D> {
    /// Operations, and the guard of the stream in the registry; `None` after the end.
    open: Option<(Driven, D)>,
    end: End,
    greeted: bool,
}

impl<D> Events<D> {
    pub(super) fn new(operations: Operations, end: End, place: D) -> Self {
        let driven = Driven {
            shared: operations,
            operations: Vec::new(),
            turn: 0,
        };
        Self {
            open: Some((driven, place)),
            end,
            greeted: false,
        }
    }
}

impl<D: Unpin> Stream for Events<D> {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let events = &mut *self;
        let Some((driven, _)) = &mut events.open else {
            return Poll::Ready(None);
        };
        if !events.greeted {
            events.greeted = true;
            return Poll::Ready(Some(Bytes::from_static(event::GREETING)));
        }
        let polled = match events.end.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => driven.poll(cx),
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

    /// Host code that runs on drop or wake. Counts how often the operations were unlocked when it
    /// ran.
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

    /// Responses of the host, produced at each poll.
    fn responses(
        host: &Arc<HostCode>,
        answer: impl Fn() -> Option<GraphResponse> + Send + 'static,
    ) -> Responses {
        let (host, dropped) = (Arc::clone(host), Dropped(Arc::clone(host)));
        Box::pin(stream::poll_fn(move |_| {
            let _held = &dropped;
            host.run();
            Poll::Ready(answer())
        }))
    }

    fn never() -> End {
        Box::pin(std::future::pending())
    }

    fn id(text: &str) -> OperationId {
        text.parse().unwrap()
    }

    fn driven(operations: &Operations) -> Driven {
        Driven {
            shared: operations.clone(),
            operations: Vec::new(),
            turn: 0,
        }
    }

    /// G10: slow host code in a poll, a wake-up or a drop does not block requests.
    #[test]
    fn host_code_holds_up_no_request() {
        let host = Arc::new(HostCode::default());
        let waker = Waker::from(Arc::clone(&host));
        let mut cx = Context::from_waker(&waker);
        let mut stream = driven(&host.operations);
        assert_eq!(stream.poll(&mut cx), Poll::Pending);
        let ends = responses(&host, || None);
        host.operations.start(id("1"), 1, ends, never()).unwrap();
        assert_eq!(host.free.load(Ordering::SeqCst), 1, "woken");
        let event = Poll::Ready(Some(event::complete_of(&id("1"))));
        assert_eq!(stream.poll(&mut cx), event);
        assert_eq!(host.free.load(Ordering::SeqCst), 3, "polled and dropped");
    }

    /// G10: an operation stopped during its poll sends no event, and its id is free.
    #[test]
    fn what_is_stopped_while_it_is_polled_sends_nothing() {
        let host = Arc::new(HostCode::default());
        let mut cx = Context::from_waker(Waker::noop());
        let mut stream = driven(&host.operations);
        let operations = host.operations.clone();
        let stops = responses(&host, move || {
            operations.stop(&id("1"));
            None
        });
        host.operations.start(id("1"), 1, stops, never()).unwrap();
        assert_eq!(stream.poll(&mut cx), Poll::Pending);
        assert!(stream.operations.is_empty());
        assert_eq!(host.operations.check(&id("1"), 1), Ok(()));
    }

    /// G10: stopped operations of an unread stream are dropped, so that repeated starts do not grow
    /// memory.
    #[test]
    fn stopped_operation_of_unread_stream_is_dropped() {
        let host = Arc::new(HostCode::default());
        let mut cx = Context::from_waker(Waker::noop());
        let mut stream = driven(&host.operations);
        for number in 1..=3 {
            let silent = responses(&host, || None);
            host.operations.start(id("1"), 1, silent, never()).unwrap();
            host.operations.stop(&id("1"));
            assert_eq!(host.free.load(Ordering::SeqCst), number, "dropped");
        }
        assert_eq!(stream.poll(&mut cx), Poll::Pending);
        assert_eq!(host.free.load(Ordering::SeqCst), 3, "and never polled");
    }
}
