//! Real races: one thread a racer, all let go at once.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::records::answer;
use crate::ports::StoreError;

/// How many callers race.
pub(super) const RACERS: usize = 32;

/// What the store answered to each of [`RACERS`] threads; `call` gets the number of its racer.
pub(super) fn race<T, F>(call: impl Fn(usize) -> F + Sync) -> Vec<T>
where
    T: Send,
    F: Future<Output = Result<T, StoreError>>,
{
    race_of(RACERS, async |index| answer(call(index).await))
}

/// What came of each of so many threads, all let go at once.
pub(super) fn race_of<T: Send>(racers: usize, call: impl AsyncFn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(racers);
    thread::scope(|scope| {
        let racer = |index| {
            let (barrier, call) = (&barrier, &call);
            scope.spawn(move || {
                barrier.wait();
                block_on(call(index))
            })
        };
        let racers: Vec<_> = (0..racers).map(racer).collect();
        racers
            .into_iter()
            .map(|racer| racer.join().expect("a racer answers"))
            .collect()
    })
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
