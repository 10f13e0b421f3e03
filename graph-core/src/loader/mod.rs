//! Loads what many resolvers of one operation ask for in one go.
//!
//! A resolver asks for a key and waits. When nothing else of the operation can go on, the keys asked for so far are loaded
//! together: no timer, and no batch is smaller than it has to be. A key that was loaded stays with the context, until it goes or the next
//! event of a subscription comes.
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

mod batch;
mod drive;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use self::batch::Loader;
use self::drive::Drivers;
pub(crate) use self::drive::{Deadline, drive};
use crate::error::GraphError;

/// Loads many keys at once.
///
/// # What an implementation must guarantee
///
/// A key that is not in the answer has no value. An error is the answer to every key.
pub trait Batch: Send + Sync + 'static {
    /// What a value is asked for by.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// What is loaded; cheap to clone, for every resolver that asks for it gets one.
    type Value: Clone + Send + Sync + 'static;

    /// Loads the values of `keys`, each of which is there once, in the order in which they were asked for.
    fn load(
        &self,
        keys: Vec<Self::Key>,
    ) -> impl Future<Output = Result<HashMap<Self::Key, Self::Value>, GraphError>> + Send;
}

/// The loaders of one request.
#[derive(Clone, Default)]
pub(crate) struct Loaders {
    all: Vec<(TypeId, Arc<dyn Flush>)>,
    /// `None` without loaders: most requests have none.
    drivers: Option<Arc<Drivers>>,
}

impl std::fmt::Debug for Loaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaders").field("count", &self.all.len()).finish()
    }
}

/// A loader, whatever it loads.
trait Flush: Any + Send + Sync {
    /// Loads what is queued; `None` when nothing is.
    fn flush(self: Arc<Self>) -> Option<BoxFuture<'static, ()>>;
    /// Forgets what was loaded.
    fn clear(&self);
    /// Forgets what is asked for and not there; who still waits asks again.
    fn let_go(&self);
}

impl Loaders {
    pub(crate) fn add<B: Batch>(&mut self, batch: B) {
        let drivers = self.drivers.get_or_insert_default();
        let loader = Arc::new(Loader::new(batch, Arc::clone(drivers)));
        self.all.retain(|(known, _)| *known != TypeId::of::<B>());
        self.all.push((TypeId::of::<B>(), loader));
    }

    /// Forgets what was loaded, in front of another event.
    pub(crate) fn clear(&self) {
        for (_, loader) in &self.all {
            loader.clear();
        }
    }

    /// Forgets what is asked for and not there, when the operation that asked has ended.
    fn let_go(&self) {
        for (_, loader) in &self.all {
            loader.let_go();
        }
    }

    pub(crate) async fn load<B: Batch>(&self, key: B::Key) -> Result<Option<B::Value>, GraphError> {
        let mut all = self.all.iter();
        let found = all.find(|(known, _)| *known == TypeId::of::<B>());
        let found = found.map(|(_, loader)| Arc::clone(loader) as Arc<dyn Any + Send + Sync>);
        match found.and_then(|loader| loader.downcast::<Loader<B>>().ok()) {
            Some(loader) => loader.load(key).await,
            None => {
                let name = std::any::type_name::<B>();
                Err(GraphError::internal(format_args!(
                    "the context has no loader `{name}`"
                )))
            }
        }
    }

    /// What is queued in all of them.
    fn queued(&self) -> impl Iterator<Item = BoxFuture<'static, ()>> {
        self.all
            .iter()
            .filter_map(|(_, loader)| Arc::clone(loader).flush())
    }
}

#[cfg(test)]
mod tests;
