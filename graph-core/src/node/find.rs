//! Lookup of objects by their global ids.

use std::fmt::Display;
use std::future::Future;
use std::str::FromStr;

use futures_util::future::try_join_all;
use juniper::ID;

use super::id::{Untyped, refused};
use crate::error::GraphError;
use crate::executor::Object;

/// Object type that the host can load by a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be loaded by a global id",
    label = "implement `graph_core::node::Refetchable` for it, or list the other types: `node = [..]`"
)]
pub trait Refetchable: Object<<Self as Refetchable>::Context> + Send + Sized {
    /// Context of the schema.
    type Context: Sync;

    /// Key of an object among those of its type, for example a number or a UUID.
    ///
    /// `Display` and `FromStr` must be inverse to each other.
    type Key: Display + FromStr + Clone + Send + Sync + 'static;

    /// Loads an object; `None` if there is none with this key, or if the principal must not know.
    ///
    /// # Errors
    ///
    /// The error is the error of the field `node` or `nodes`.
    fn by_key(
        context: &Self::Context,
        key: Self::Key,
    ) -> impl Future<Output = Result<Option<Self>, GraphError>> + Send;
}

/// Value of the interface `Node`. Implemented by `#[graph_interface(node, ..)]`.
pub trait Nodes: Send + Sized {
    /// Context of the schema.
    type Context: Sync;

    /// Loads the object with the key `key` of the type `name`; used by [`find`](Self::find).
    ///
    /// # Errors
    ///
    /// The outer result is `None` if no type of the interface is called `name`. The inner errors
    /// are those of [`find`](Self::find).
    #[doc(hidden)]
    fn load(
        context: &Self::Context,
        name: &str,
        key: &str,
    ) -> impl Future<Output = Option<Result<Option<Self>, GraphError>>> + Send;

    /// Loads the object with the global id `id`: the resolver of `node(id:)`.
    ///
    /// # Errors
    ///
    /// - `BAD_USER_INPUT`: `id` is malformed, or names a type outside the interface.
    /// - An error of [`Refetchable::by_key`].
    fn find(
        context: &Self::Context,
        id: &ID,
    ) -> impl Future<Output = Result<Option<Self>, GraphError>> + Send {
        async move {
            let Untyped { name, key } = Untyped::parse(id).map_err(|_| refused(id))?;
            let loaded = Self::load(context, &name, &key).await;
            loaded.unwrap_or_else(|| Err(refused(id)))
        }
    }

    /// Loads the objects with the global ids `ids`, in their order: the resolver of `nodes(ids:)`.
    ///
    /// # Errors
    ///
    /// The first error of [`find`](Self::find).
    fn find_all(
        context: &Self::Context,
        ids: &[ID],
    ) -> impl Future<Output = Result<Vec<Option<Self>>, GraphError>> + Send {
        try_join_all(ids.iter().map(|id| Self::find(context, id)))
    }
}
