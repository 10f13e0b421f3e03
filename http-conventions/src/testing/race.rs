//! Runs futures against each other on real threads, without a runtime.

use std::{
    panic::resume_unwind,
    pin::pin,
    sync::{Arc, Barrier},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

/// How many take part in a race.
pub(super) const RACERS: u8 = 32;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Starts one future for each racer at the same instant, each on its own thread; the results are in order.
///
/// A racer that panics makes the race panic: one that fell out must not count as one that lost.
pub(super) fn race<T: Send, F: Future<Output = T>>(racer: impl Fn(u8) -> F + Sync) -> Vec<T> {
    let start = Barrier::new(usize::from(RACERS));
    let run = |number| {
        start.wait();
        block_on(racer(number))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..RACERS)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|cause| resume_unwind(cause)))
            .collect()
    })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
