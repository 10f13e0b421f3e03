//! Many calls at the same instant, without a runtime.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Barrier},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

/// Runs each call on a thread of its own, all from the same instant on, and gives the answers in the order of the calls.
pub(crate) fn race<C>(calls: impl IntoIterator<Item = C>) -> Vec<C::Output>
where
    C: Future<Output: Send> + Send,
{
    let calls: Vec<C> = calls.into_iter().collect();
    let start = &Barrier::new(calls.len());
    thread::scope(|scope| {
        let run = |call| {
            scope.spawn(move || {
                start.wait();
                block_on(call)
            })
        };
        let racers: Vec<_> = calls.into_iter().map(run).collect();
        #[expect(clippy::expect_used, reason = "a case fails by panicking")]
        racers
            .into_iter()
            .map(|racer| racer.join().expect("a call of the race panicked"))
            .collect()
    })
}

/// Sleeps between the polls of one future.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
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
