//! Real races: one thread a racer, all let go at once.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// How many callers race.
pub(super) const RACERS: usize = 32;

/// What each of [`RACERS`] threads was answered; `call` gets the number of its racer.
pub(super) fn race<T: Send>(call: impl AsyncFn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(RACERS);
    thread::scope(|scope| {
        let racer = |index| {
            let (barrier, call) = (&barrier, &call);
            scope.spawn(move || {
                barrier.wait();
                block_on(call(index))
            })
        };
        let racers: Vec<_> = (0..RACERS).map(racer).collect();
        let racers = racers.into_iter();
        racers
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
