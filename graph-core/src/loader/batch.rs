//! Loader: queued keys, waiting resolvers, and cached values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::future::BoxFuture;

use super::drive::Drivers;
use super::{Batch, Flush};
use crate::error::GraphError;

pub(super) struct Loader<B: Batch> {
    batch: B,
    state: Mutex<State<B>>,
    drivers: Arc<Drivers>,
}

struct State<B: Batch> {
    queued: Vec<B::Key>,
    keys: HashMap<B::Key, Asked<B::Value>>,
    /// Incremented when the cache is cleared; batches of an earlier epoch are discarded.
    epoch: u64,
}

enum Asked<V> {
    Waiting(Vec<Waker>),
    Loaded(Result<Option<V>, GraphError>),
}

impl<B: Batch> Loader<B> {
    pub(super) fn new(batch: B, drivers: Arc<Drivers>) -> Self {
        let state = State {
            queued: Vec::new(),
            keys: HashMap::new(),
            epoch: 0,
        };
        Self {
            batch,
            state: Mutex::new(state),
            drivers,
        }
    }

    pub(super) async fn load(&self, key: B::Key) -> Result<Option<B::Value>, GraphError> {
        poll_fn(|context| self.poll(&key, context)).await
    }

    fn poll(&self, key: &B::Key, context: &Context<'_>) -> Poll<Result<Option<B::Value>, GraphError>> {
        let mut state = self.lock();
        match state.keys.entry(key.clone()) {
            Entry::Occupied(mut known) => match known.get_mut() {
                Asked::Loaded(loaded) => Poll::Ready(loaded.clone()),
                Asked::Waiting(wakers) => {
                    if !wakers.iter().any(|known| known.will_wake(context.waker())) {
                        wakers.push(context.waker().clone());
                    }
                    Poll::Pending
                }
            },
            Entry::Vacant(vacant) => {
                vacant.insert(Asked::Waiting(vec![context.waker().clone()]));
                state.queued.push(key.clone());
                drop(state);
                // the caller may run in another task while the driver of the operation is idle
                self.drivers.queued();
                Poll::Pending
            }
        }
    }

    async fn run(self: Arc<Self>, keys: Vec<B::Key>, epoch: u64) {
        let loaded = self.batch.load(keys.clone()).await;
        let mut wakers = Vec::new();
        {
            let mut state = self.lock();
            if state.epoch != epoch {
                return;
            }
            for key in keys {
                let value = match &loaded {
                    Ok(values) => Ok(values.get(&key).cloned()),
                    Err(error) => Err(error.clone()),
                };
                if let Some(Asked::Waiting(waiting)) = state.keys.insert(key, Asked::Loaded(value)) {
                    wakers.extend(waiting);
                }
            }
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Batch> Flush for Loader<B> {
    fn flush(self: Arc<Self>) -> Option<BoxFuture<'static, ()>> {
        let (keys, epoch) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.queued), state.epoch)
        };
        if keys.is_empty() {
            return None;
        }
        Some(Box::pin(self.run(keys, epoch)))
    }

    fn clear(&self) {
        let mut state = self.lock();
        state.queued.clear();
        let forgotten = std::mem::take(&mut state.keys);
        state.epoch += 1;
        drop(state);
        // waiting resolvers queue their keys again
        for asked in forgotten.into_values() {
            if let Asked::Waiting(wakers) = asked {
                wakers.into_iter().for_each(Waker::wake);
            }
        }
    }

    fn let_go(&self) {
        let mut state = self.lock();
        state.queued.clear();
        let mut waiting = Vec::new();
        state.keys.retain(|_, asked| match asked {
            Asked::Loaded(_) => true,
            Asked::Waiting(wakers) => {
                waiting.append(wakers);
                false
            }
        });
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}
