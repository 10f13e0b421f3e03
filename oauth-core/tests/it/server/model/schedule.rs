//! The orders in which several requests reach a store.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use oauth_core::memory::MemoryTokens;
use oauth_core::ports::StoreError;
use oauth_core::store::SessionStore;
use oauth_core_conformance::verbs::{Reply, Respond, Verb};

/// All orders in which some futures can be polled, one after the other.
#[derive(Default)]
pub(super) struct Schedule {
    /// For each step: the index of the polled future, and the number of unfinished ones.
    pub(super) choices: Vec<(usize, usize)>,
    pub(super) runs: usize,
}

impl Schedule {
    /// Moves to the next order; `false` after the last.
    pub(super) fn next(&mut self) -> bool {
        self.runs += 1;
        if self.runs == 1 {
            return true;
        }
        while let Some((choice, options)) = self.choices.pop() {
            if choice + 1 < options {
                self.choices.push((choice + 1, options));
                return true;
            }
        }
        false
    }

    /// Polls the futures to their ends in this order.
    pub(super) fn run(&mut self, mut futures: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
        // before the first verb the requests are independent
        futures.retain_mut(|future| !is_done(future));
        let mut step = 0;
        while !futures.is_empty() {
            if step == self.choices.len() {
                self.choices.push((0, futures.len()));
            }
            let chosen = self.choices[step].0;
            if is_done(&mut futures[chosen]) {
                drop(futures.remove(chosen));
            }
            step += 1;
        }
    }
}

fn is_done(future: &mut Pin<Box<dyn Future<Output = ()> + '_>>) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    matches!(future.as_mut().poll(&mut context), Poll::Ready(()))
}

/// The memory store behind a gate. While the gate is closed, each verb takes one more poll.
pub(super) struct Gated {
    store: Arc<dyn SessionStore>,
    pub(super) closed: AtomicBool,
}

impl Gated {
    pub(super) fn new() -> Self {
        Self {
            store: Arc::new(MemoryTokens::new()),
            closed: AtomicBool::new(false),
        }
    }
}

#[async_trait::async_trait]
impl Respond for Gated {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        let mut waits = self.closed.load(Ordering::Relaxed);
        poll_fn(|_| {
            if std::mem::take(&mut waits) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        self.store.respond(verb).await
    }
}
