//! Data of the generated schemas, as in `tests/oracle/world.mjs`: a field's value depends only on
//! its object's seed, its name and its arguments.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::task::{Context as TaskContext, Poll};
use std::thread;

use super::canon::{Canon, canon};
use super::roll::{Make, Roll, digest, mix};
use graph_core::GraphError;
use tokio::sync::oneshot;

/// Host value of every resolver; mutations increment a counter.
#[derive(Default)]
pub(crate) struct World {
    count: AtomicU32,
    /// Thread that wakes pending fields.
    elsewhere: Option<Sender<oneshot::Sender<()>>>,
}

/// Thread that wakes its senders, the last one first.
pub(crate) fn elsewhere() -> Sender<oneshot::Sender<()>> {
    let (sender, receiver) = mpsc::channel::<oneshot::Sender<()>>();
    thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok(first) = receiver.recv() {
            held.push(first);
            held.extend(receiver.try_iter());
            while let Some(last) = held.pop() {
                // the field may have been cancelled
                let _ = last.send(());
                held.extend(receiver.try_iter().take(2));
            }
        }
    });
    sender
}

impl World {
    /// World whose pending fields are woken by another thread.
    pub(crate) fn woken(elsewhere: &Sender<oneshot::Sender<()>>) -> Self {
        Self {
            elsewhere: Some(elsewhere.clone()),
            ..Self::default()
        }
    }

    /// Waits zero, one or two times, depending on a field's position and seed.
    async fn wait(&self, place: &str, seed: u32) {
        let times = mix(digest(place), seed) % 3;
        let Some(elsewhere) = &self.elsewhere else {
            return Pause(times).await;
        };
        for _ in 0..times {
            let (sender, receiver) = oneshot::channel();
            elsewhere.send(sender).unwrap();
            receiver.await.unwrap();
        }
    }

    /// Start of a mutation's root field, visible to all later fields.
    pub(crate) async fn change(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        Pause(1).await;
    }

    fn roll(&self, place: &str, seed: u32, given: &[&dyn Canon]) -> Roll {
        let word = mix(mix(digest(place), seed), digest(&canon(given)));
        Roll(mix(word, self.count.load(Ordering::SeqCst)))
    }

    pub(crate) fn now<T: Make>(&self, place: &str, seed: u32, given: &[&dyn Canon]) -> T {
        T::make(&mut self.roll(place, seed, given))
    }

    pub(crate) fn now_or_fail<T: Make>(
        &self,
        place: &str,
        seed: u32,
        given: &[&dyn Canon],
    ) -> Result<T, GraphError> {
        let mut roll = self.roll(place, seed, given);
        if roll.below(4) == 0 {
            return Err(GraphError::not_found(format!("{place} failed for {seed}")));
        }
        Ok(T::make(&mut roll))
    }

    pub(crate) async fn later<T: Make>(&self, place: &str, seed: u32, given: &[&dyn Canon]) -> T {
        self.wait(place, seed).await;
        T::make(&mut self.roll(place, seed, given))
    }

    pub(crate) async fn later_or_fail<T: Make>(
        &self,
        place: &str,
        seed: u32,
        given: &[&dyn Canon],
    ) -> Result<T, GraphError> {
        self.wait(place, seed).await;
        self.now_or_fail(place, seed, given)
    }
}

/// Is pending the given number of times and wakes itself each time.
struct Pause(u32);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
