//! Batched loading of keys (DataLoader): many resolvers, one query.
//!
//! A resolver requests a key and awaits its value. When no other part of the operation can make
//! progress, the engine loads all requested keys in one batch. No timer delays or splits a batch.
//!
//! The context caches values and errors. The engine clears the cache before each event of a
//! subscription and before each operation of an HTTP batch.
//!
//! ```
//! use std::collections::HashMap;
//! use graph_core::loader::Batch;
//! use graph_core::{GraphError, RequestContext};
//!
//! struct Names;
//!
//! impl Batch for Names {
//!     type Key = i32;
//!     type Value = String;
//!
//!     async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
//!         Ok(keys.into_iter().map(|id| (id, format!("name {id}"))).collect())
//!     }
//! }
//!
//! // for each request
//! let context = RequestContext::new(()).with_loader(Names);
//! // in a resolver: context.load::<Names>(7).await? is Some("name 7")
//! # let _ = context;
//! ```
//!
//! A [`SelectiveBatch`] also receives the fields that the waiting resolvers need.

mod batch;
mod drive;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use self::batch::{AnyBatch, Loader, Selective, Whole};
use self::drive::Drivers;
pub(crate) use self::drive::{Deadline, Driven, drive};
use crate::error::GraphError;
use crate::look_ahead::{FieldSet, Selectable};

/// Loads many keys at once.
///
/// # Contract
///
/// - A key that is missing in the result has no value.
/// - An error applies to every key of the batch.
pub trait Batch: Send + Sync + 'static {
    /// Key of a value.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// Loaded value. It should be cheap to clone, because each resolver receives a clone.
    type Value: Clone + Send + Sync + 'static;

    /// Loads the values of `keys`, which are distinct and in the order of the calls to
    /// [`load`](crate::RequestContext::load).
    fn load(
        &self,
        keys: Vec<Self::Key>,
    ) -> impl Future<Output = Result<HashMap<Self::Key, Self::Value>, GraphError>> + Send;
}

/// Loads many values at once, with the fields that the waiting resolvers need.
///
/// A resolver passes the fields that it reads from its [`LookAhead`](crate::LookAhead) to
/// [`load_fields`](crate::RequestContext::load_fields). A batch loads the union of these fields for
/// each of its keys. If a later resolver needs more fields of a cached value, the value is loaded
/// again, with the fields of both.
///
/// The contract is that of [`Batch`].
pub trait SelectiveBatch: Send + Sync + 'static {
    /// Key of a value.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// Loaded value. It should be cheap to clone, because each resolver receives a clone.
    type Value: Clone + Send + Sync + 'static;
    /// Object type of the fields.
    type Object: Selectable + 'static;

    /// Loads the values of `keys`, with at least the given fields of each.
    fn load(
        &self,
        keys: Vec<Self::Key>,
        fields: FieldSet<Self::Object>,
    ) -> impl Future<Output = Result<HashMap<Self::Key, Self::Value>, GraphError>> + Send;
}

/// Loaders of one request.
#[derive(Clone, Default)]
pub(crate) struct Loaders {
    all: Vec<(TypeId, Arc<dyn AnyLoader>)>,
    /// `None` without loaders, the most common case.
    drivers: Option<Arc<Drivers>>,
}

impl std::fmt::Debug for Loaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaders").field("count", &self.all.len()).finish()
    }
}

/// Type-erased loader.
trait AnyLoader: Any + Send + Sync {
    /// Starts a batch of the queued keys, in a span if `has_span`; `None` if there are no keys.
    fn flush(self: Arc<Self>, has_span: bool) -> Option<BoxFuture<'static, ()>>;
    /// Clears the cache.
    fn clear(&self);
    /// Drops pending keys; resolvers that still wait queue them again.
    fn drop_pending(&self);
}

impl Loaders {
    pub(crate) fn add<B: Batch>(&mut self, batch: B) {
        self.insert::<B, _>(Whole(batch));
    }

    pub(crate) fn add_selective<B: SelectiveBatch>(&mut self, batch: B) {
        self.insert::<B, _>(Selective(batch));
    }

    /// Inserts the loader under the type `B` of the host's batch.
    fn insert<B: 'static, A: AnyBatch>(&mut self, batch: A) {
        let drivers = self.drivers.get_or_insert_default();
        let loader = Arc::new(Loader::new(batch, Arc::clone(drivers)));
        self.all.retain(|(known, _)| *known != TypeId::of::<B>());
        self.all.push((TypeId::of::<B>(), loader));
    }

    /// Clears the caches of all loaders.
    pub(crate) fn clear(&self) {
        for (_, loader) in &self.all {
            loader.clear();
        }
    }

    /// Drops pending keys after the operation that requested them ended.
    fn drop_pending(&self) {
        for (_, loader) in &self.all {
            loader.drop_pending();
        }
    }

    pub(crate) async fn load<B: Batch>(&self, key: B::Key) -> Result<Option<B::Value>, GraphError> {
        self.find::<B, Whole<B>>()?.load(key, ()).await
    }

    pub(crate) async fn load_fields<B: SelectiveBatch>(
        &self,
        key: B::Key,
        fields: FieldSet<B::Object>,
    ) -> Result<Option<B::Value>, GraphError> {
        self.find::<B, Selective<B>>()?.load(key, fields).await
    }

    fn find<B: 'static, A: AnyBatch>(&self) -> Result<Arc<Loader<A>>, GraphError> {
        let mut all = self.all.iter();
        let found = all.find(|(known, _)| *known == TypeId::of::<B>());
        let found = found.map(|(_, loader)| Arc::clone(loader) as Arc<dyn Any + Send + Sync>);
        found.and_then(|loader| loader.downcast().ok()).ok_or_else(|| {
            let name = std::any::type_name::<B>();
            GraphError::internal(format_args!("the context has no loader `{name}`"))
        })
    }

    /// Starts a batch for each loader with queued keys.
    fn flush(&self, has_spans: bool) -> impl Iterator<Item = BoxFuture<'static, ()>> {
        self.all
            .iter()
            .filter_map(move |(_, loader)| Arc::clone(loader).flush(has_spans))
    }
}

#[cfg(test)]
mod tests;
