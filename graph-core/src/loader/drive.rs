//! Runs an operation, and starts its batches when no other part of the operation can make progress.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream};
use futures_util::task::AtomicWaker;

use super::Loaders;

/// Maximum consecutive polls before the task yields to other tasks.
const ROUNDS: usize = 64;

/// Drivers of the operations that share the loaders of a request.
#[derive(Debug, Default)]
pub(super) struct Drivers {
    at_work: Mutex<Vec<Arc<Signal>>>,
}

impl Drivers {
    /// Wakes the idle drivers, because a key was queued.
    pub(super) fn wake_idle(&self) {
        for signal in self.lock().iter() {
            signal.notify();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Signal>>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registration of a running operation; on drop it releases its pending keys.
struct AtWork<'l> {
    loaders: &'l Loaders,
    drivers: &'l Drivers,
    signal: Arc<Signal>,
}

impl<'l> AtWork<'l> {
    /// `None` without loaders.
    fn new(loaders: &'l Loaders) -> Option<Self> {
        let drivers = loaders.drivers.as_deref()?;
        let signal = Arc::new(Signal::default());
        drivers.lock().push(Arc::clone(&signal));
        Some(Self {
            loaders,
            drivers,
            signal,
        })
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let signal = &self.signal;
        let mut at_work = self.drivers.lock();
        at_work.retain(|known| !Arc::ptr_eq(known, signal));
        drop(at_work);
        // the batches of this operation are dropped, so other operations queue their keys again
        self.loaders.drop_pending();
    }
}

/// Waker of a driver.
#[derive(Debug, Default)]
struct Signal {
    /// Woken since the last poll.
    woken: AtomicBool,
    /// The driver is running and checks `woken` and the queues before it becomes idle.
    working: AtomicBool,
    outer: AtomicWaker,
}

impl Signal {
    /// Wakes the task, unless the driver is running.
    fn notify(&self) {
        if !self.working.load(Ordering::SeqCst) {
            self.outer.wake();
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.notify();
    }
}

/// Deadline of an operation.
pub(crate) struct Deadline<'d> {
    pub(crate) passes: BoxFuture<'static, ()>,
    /// Called once; the operation must complete at its next poll.
    pub(crate) expire: &'d (dyn Fn() + Send + Sync),
}

/// Loaders of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Driven<'l> {
    pub(crate) loaders: &'l Loaders,
    /// `true` if each batch has a span.
    pub(crate) has_spans: bool,
}

/// Runs `operation` with its loaders until its deadline.
///
/// Returns `None` if the operation is still pending after the deadline and one more poll.
pub(crate) async fn drive<T>(
    operation: impl Future<Output = T> + Send,
    Driven { loaders, has_spans }: Driven<'_>,
    mut deadline: Option<Deadline<'_>>,
) -> Option<T> {
    let mut operation = pin!(operation);
    let at_work = AtWork::new(loaders);
    if at_work.is_none() && deadline.is_none() {
        return Some(operation.await);
    }
    let mut batches = FuturesUnordered::new();
    poll_fn(|outer| {
        let polled = match &at_work {
            None => operation.as_mut().poll(outer),
            Some(at_work) => rounds(operation.as_mut(), (at_work, has_spans), &mut batches, outer),
        };
        if let Poll::Ready(value) = polled {
            return Poll::Ready(Some(value));
        }
        let Some(limit) = &mut deadline else {
            return Poll::Pending;
        };
        if limit.passes.as_mut().poll(outer).is_pending() {
            return Poll::Pending;
        }
        (limit.expire)();
        Poll::Ready(match operation.as_mut().poll(outer) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        })
    })
    .await
}

fn rounds<T>(
    mut operation: Pin<&mut (impl Future<Output = T> + Send)>,
    (at_work, has_spans): (&AtWork<'_>, bool),
    batches: &mut FuturesUnordered<BoxFuture<'static, ()>>,
    outer: &mut Context<'_>,
) -> Poll<T> {
    let AtWork { loaders, signal, .. } = at_work;
    signal.outer.register(outer.waker());
    let waker = Waker::from(Arc::clone(signal));
    let mut inner = Context::from_waker(&waker);
    for _ in 0..ROUNDS {
        signal.working.store(true, Ordering::SeqCst);
        signal.woken.store(false, Ordering::SeqCst);
        let polled = operation.as_mut().poll(&mut inner);
        if polled.is_ready() {
            signal.working.store(false, Ordering::SeqCst);
            return polled;
        }
        while let Poll::Ready(Some(())) = Pin::new(&mut *batches).poll_next(&mut inner) {}
        // a key queued from here on wakes the task; an earlier one is checked below
        signal.working.store(false, Ordering::SeqCst);
        if signal.woken.load(Ordering::SeqCst) {
            continue;
        }
        let before = batches.len();
        batches.extend(loaders.flush(has_spans));
        if batches.len() == before {
            return Poll::Pending;
        }
    }
    outer.waker().wake_by_ref();
    Poll::Pending
}
