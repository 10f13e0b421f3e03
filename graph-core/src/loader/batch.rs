//! Loader: queued keys, waiting resolvers, and cached values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::{Future, poll_fn};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::future::{BoxFuture, FutureExt as _};

use super::drive::Drivers;
use super::{AnyLoader, Batch, SelectiveBatch};
use crate::error::{ErrorCode, GraphError};
use crate::look_ahead::FieldSet;

/// [`Batch`] or [`SelectiveBatch`].
pub(super) trait AnyBatch: Send + Sync + 'static {
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    type Value: Clone + Send + Sync + 'static;
    type Fields: Fields;

    /// Name of the host's type.
    fn name() -> &'static str;

    fn run(
        &self,
        keys: Vec<Self::Key>,
        fields: Self::Fields,
    ) -> impl Future<Output = Result<HashMap<Self::Key, Self::Value>, GraphError>> + Send;
}

/// Fields that the resolvers need of a value: a [`FieldSet`], or `()` for whole values.
pub(super) trait Fields: Clone + Default + Send + Sync + 'static {
    fn union_with(&mut self, other: &Self);
    fn is_superset(&self, other: &Self) -> bool;
}

/// A [`Batch`]: it loads whole values.
pub(super) struct Whole<B>(pub(super) B);

impl<B: Batch> AnyBatch for Whole<B> {
    type Key = B::Key;
    type Value = B::Value;
    type Fields = ();

    fn name() -> &'static str {
        std::any::type_name::<B>()
    }

    async fn run(&self, keys: Vec<B::Key>, (): ()) -> Result<HashMap<B::Key, B::Value>, GraphError> {
        self.0.load(keys).await
    }
}

impl Fields for () {
    fn union_with(&mut self, (): &Self) {}

    fn is_superset(&self, (): &Self) -> bool {
        true
    }
}

/// A [`SelectiveBatch`]: it loads the needed fields.
pub(super) struct Selective<B>(pub(super) B);

impl<B: SelectiveBatch> AnyBatch for Selective<B> {
    type Key = B::Key;
    type Value = B::Value;
    type Fields = FieldSet<B::Object>;

    fn name() -> &'static str {
        std::any::type_name::<B>()
    }

    async fn run(
        &self,
        keys: Vec<B::Key>,
        fields: Self::Fields,
    ) -> Result<HashMap<B::Key, B::Value>, GraphError> {
        self.0.load(keys, fields).await
    }
}

impl<T: 'static> Fields for FieldSet<T> {
    fn union_with(&mut self, other: &Self) {
        self.union_with(other);
    }

    fn is_superset(&self, other: &Self) -> bool {
        self.is_superset(other)
    }
}

/// Queue and cache of one batch type of the host.
pub(super) struct Loader<B: AnyBatch> {
    batch: B,
    state: Mutex<State<B>>,
    drivers: Arc<Drivers>,
}

struct State<B: AnyBatch> {
    queued: Vec<B::Key>,
    /// Union of the fields that the resolvers need of the queued keys.
    fields: B::Fields,
    keys: HashMap<B::Key, KeyState<B>>,
    /// Incremented when the cache is cleared. The results of earlier batches are then discarded.
    epoch: u64,
}

/// State of a key that a resolver has requested.
enum KeyState<B: AnyBatch> {
    Waiting {
        wakers: Vec<Waker>,
        /// `false` while a batch loads the key.
        queued: bool,
    },
    Loaded {
        result: Result<Option<B::Value>, GraphError>,
        /// Fields that were requested from the batch.
        fields: B::Fields,
    },
}

impl<B: AnyBatch> KeyState<B> {
    fn queued(waker: &Waker) -> Self {
        Self::Waiting {
            wakers: vec![waker.clone()],
            queued: true,
        }
    }
}

impl<B: AnyBatch> Loader<B> {
    pub(super) fn new(batch: B, drivers: Arc<Drivers>) -> Self {
        let state = State {
            queued: Vec::new(),
            fields: B::Fields::default(),
            keys: HashMap::new(),
            epoch: 0,
        };
        Self {
            batch,
            state: Mutex::new(state),
            drivers,
        }
    }

    pub(super) async fn load(&self, key: B::Key, fields: B::Fields) -> Result<Option<B::Value>, GraphError> {
        poll_fn(|context| self.poll(&key, &fields, context)).await
    }

    fn poll(
        &self,
        key: &B::Key,
        fields: &B::Fields,
        context: &Context<'_>,
    ) -> Poll<Result<Option<B::Value>, GraphError>> {
        let mut state = self.lock();
        let State {
            queued: queue,
            fields: queued_fields,
            keys,
            ..
        } = &mut *state;
        match keys.entry(key.clone()) {
            Entry::Occupied(mut known) => match known.get_mut() {
                KeyState::Waiting { wakers, queued } => {
                    if *queued {
                        queued_fields.union_with(fields);
                    }
                    if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                        wakers.push(context.waker().clone());
                    }
                    return Poll::Pending;
                }
                // an error, or the absence of a value, does not depend on the fields
                KeyState::Loaded {
                    result,
                    fields: loaded,
                } if !matches!(result, Ok(Some(_))) || loaded.is_superset(fields) => {
                    return Poll::Ready(result.clone());
                }
                // the next value replaces this one, so it needs the fields of this one as well
                KeyState::Loaded { fields: loaded, .. } => {
                    queued_fields.union_with(loaded);
                    known.insert(KeyState::queued(context.waker()));
                }
            },
            Entry::Vacant(vacant) => {
                vacant.insert(KeyState::queued(context.waker()));
            }
        }
        queued_fields.union_with(fields);
        queue.push(key.clone());
        drop(state);
        // the caller may run in another task while the driver of the operation is idle
        self.drivers.wake_idle();
        Poll::Pending
    }

    /// Loads `keys`; returns the code of the error.
    async fn run(self: Arc<Self>, keys: Vec<B::Key>, fields: B::Fields, epoch: u64) -> Option<ErrorCode> {
        let loaded = self.batch.run(keys.clone(), fields.clone()).await;
        let failure = loaded.as_ref().err().map(GraphError::code);
        let mut waiting = Vec::new();
        {
            let mut state = self.lock();
            if state.epoch != epoch {
                return failure;
            }
            for key in keys {
                let result = match &loaded {
                    Ok(values) => Ok(values.get(&key).cloned()),
                    Err(error) => Err(error.clone()),
                };
                let fields = fields.clone();
                let asked = state
                    .keys
                    .insert(key.clone(), KeyState::Loaded { result, fields });
                if let Some(KeyState::Waiting { wakers, queued }) = asked {
                    waiting.extend(wakers);
                    // queued again after another operation had let go of the key
                    if queued {
                        state.queued.retain(|known| *known != key);
                    }
                }
            }
        }
        waiting.into_iter().for_each(Waker::wake);
        failure
    }

    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: AnyBatch> AnyLoader for Loader<B> {
    fn flush(self: Arc<Self>, has_span: bool) -> Option<BoxFuture<'static, ()>> {
        let mut state = self.lock();
        if state.queued.is_empty() {
            return None;
        }
        let keys = std::mem::take(&mut state.queued);
        let fields = std::mem::take(&mut state.fields);
        let epoch = state.epoch;
        for key in &keys {
            if let Some(KeyState::Waiting { queued, .. }) = state.keys.get_mut(key) {
                *queued = false;
            }
        }
        drop(state);
        if has_span {
            return Some(in_span((B::name(), keys.len()), self.run(keys, fields, epoch)));
        }
        Some(Box::pin(self.run(keys, fields, epoch).map(drop)))
    }

    fn clear(&self) {
        let mut state = self.lock();
        state.queued.clear();
        state.fields = B::Fields::default();
        let cleared = std::mem::take(&mut state.keys);
        state.epoch += 1;
        drop(state);
        // waiting resolvers queue their keys again
        for state in cleared.into_values() {
            if let KeyState::Waiting { wakers, .. } = state {
                wakers.into_iter().for_each(Waker::wake);
            }
        }
    }

    fn drop_pending(&self) {
        let mut state = self.lock();
        state.queued.clear();
        state.fields = B::Fields::default();
        let mut waiting = Vec::new();
        state.keys.retain(|_, state| match state {
            KeyState::Loaded { .. } => true,
            KeyState::Waiting { wakers, .. } => {
                waiting.append(wakers);
                false
            }
        });
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Runs a batch in a span.
#[cfg(feature = "tracing")]
fn in_span(
    (name, size): (&'static str, usize),
    batch: impl Future<Output = Option<ErrorCode>> + Send + 'static,
) -> BoxFuture<'static, ()> {
    let span = tracing::info_span!(
        "GraphQL DataLoader Batch",
        otel.status_code = tracing::field::Empty,
        error.r#type = tracing::field::Empty,
        graphql.dataloader.name = name,
        graphql.dataloader.batch.size = size,
    );
    let ended = span.clone();
    let batch = batch.map(move |failure| {
        if let Some(code) = failure {
            ended.record("otel.status_code", "ERROR");
            ended.record("error.type", code.as_str());
        }
    });
    Box::pin(tracing::Instrument::instrument(batch, span))
}

#[cfg(not(feature = "tracing"))]
fn in_span(
    _: (&'static str, usize),
    batch: impl Future<Output = Option<ErrorCode>> + Send + 'static,
) -> BoxFuture<'static, ()> {
    Box::pin(batch.map(drop))
}
