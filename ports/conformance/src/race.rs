use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Number of concurrent calls in a [`race`].
pub const RACERS: usize = 32;

/// Calls `racer` from [`RACERS`] threads at the same instant, and returns the results in the order
/// of their numbers.
///
/// # Contract
///
/// - Each call runs on its own thread, so that the test detects a store that locks twice in one
///   operation.
/// - If the caller is on a tokio runtime, single- or multi-threaded, every thread enters its
///   context: the sockets and timers of the store run on that runtime. The caller must await the
///   race and not block the runtime.
///
/// # Panics
///
/// If a racer panics. A panic does not count as a lost race.
pub async fn race<S, T>(
    store: &Arc<S>,
    racer: impl AsyncFn(Arc<S>, usize) -> T + Send + Sync + 'static,
) -> Vec<T>
where
    S: ?Sized + Send + Sync + 'static,
    T: Send + 'static,
{
    race_of(RACERS, store, racer).await
}

/// Calls `racer` from `racers` threads, like [`race`].
///
/// # Panics
///
/// If a racer panics.
pub async fn race_of<S, T>(
    racers: usize,
    store: &Arc<S>,
    racer: impl AsyncFn(Arc<S>, usize) -> T + Send + Sync + 'static,
) -> Vec<T>
where
    S: ?Sized + Send + Sync + 'static,
    T: Send + 'static,
{
    let runtime = Handle::try_current().ok();
    let (start, racer) = (Arc::new(Barrier::new(racers)), Arc::new(racer));
    let started: Vec<_> = (0..racers)
        .map(|number| {
            let (start, racer, store) = (Arc::clone(&start), Arc::clone(&racer), Arc::clone(store));
            let runtime = runtime.clone();
            let (sender, finished) = oneshot::channel();
            thread::spawn(move || {
                let _context = runtime.as_ref().map(Handle::enter);
                start.wait();
                let run = || block_on(racer(store, number));
                // the receiver is gone only if another racer panicked
                drop(sender.send(catch_unwind(AssertUnwindSafe(run))));
            });
            finished
        })
        .collect();
    let mut results = Vec::with_capacity(racers);
    for finished in started {
        let ended = finished.await;
        #[expect(clippy::expect_used, reason = "a thread sends before it ends")]
        match ended.expect("a racer has a result") {
            Ok(result) => results.push(result),
            Err(panic) => resume_unwind(panic),
        }
    }
    results
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
