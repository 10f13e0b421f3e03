//! Store port for registered endpoints.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Endpoint, EndpointId, EndpointState, Rotated, Rotation};
use crate::{event::EventType, ports::StoreError};

/// Result of [`EndpointStore::insert`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Inserted {
    /// The endpoint was stored.
    Inserted,
    /// The id is taken. Nothing changed.
    AlreadyExists,
}

/// Store of the registered endpoints.
///
/// # Contract
///
/// - **Atomicity.** Each method is one atomic step and durable before it returns.
/// - **No lost rotation.** Of two concurrent calls of [`rotate`](Self::rotate), the second sees the
///   result of the first.
/// - **Isolation of unreadable rows.** [`subscribers`](Self::subscribers) needs neither signers nor
///   URL: it decrypts nothing, and returns an endpoint whose other columns are unreadable like any
///   other. The deliveries of that endpoint wait until [`load`](Self::load) can read it.
/// - **Time limit.** The dispatcher drops the future of a call after 10 seconds, and treats it as
///   an error of the store.
/// - **Secrets.** An attacker who can read the signers can forge messages. Write and read them with
///   [`SignersAtRest`](super::SignersAtRest), which encrypts them if the host has a key.
///
/// The kit `endpoint_store!` of `webhook-core-conformance` checks these rules, except unreadable
/// rows, which the store's own tests must create.
#[async_trait]
pub trait EndpointStore: Send + Sync {
    /// Stores a new endpoint, unless its id is taken.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError>;

    /// Loads an endpoint; `None` if the id is unknown.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails or the row is unreadable.
    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError>;

    /// Loads several endpoints in one call; unknown ids are left out, the order is free.
    ///
    /// The dispatcher calls it once for each batch of leases. The default calls
    /// [`load`](Self::load) for each id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails or a row is unreadable. The dispatcher then loads each
    /// endpoint alone, so that an unreadable row delays its own deliveries only.
    async fn load_many(&self, ids: &[EndpointId]) -> Result<Vec<Endpoint>, StoreError> {
        let mut endpoints = Vec::with_capacity(ids.len());
        for id in ids {
            endpoints.extend(self.load(id).await?);
        }
        Ok(endpoints)
    }

    /// Ids of the endpoints that subscribe to this type, in ascending order.
    ///
    /// An endpoint subscribes if it is not disabled and its filter accepts the type.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. Unreadable signers or URLs are no error here.
    async fn subscribers(&self, event_type: &EventType) -> Result<Vec<EndpointId>, StoreError>;

    /// Sets the state of an endpoint; returns `false` if the id is unknown.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError>;

    /// Rotates the secret of an endpoint: load, [`Endpoint::rotate`] and write, in one atomic step.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError>;
}

#[async_trait]
impl<S: EndpointStore + ?Sized> EndpointStore for Arc<S> {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        (**self).insert(endpoint).await
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        (**self).load(id).await
    }

    async fn load_many(&self, ids: &[EndpointId]) -> Result<Vec<Endpoint>, StoreError> {
        (**self).load_many(ids).await
    }

    async fn subscribers(&self, event_type: &EventType) -> Result<Vec<EndpointId>, StoreError> {
        (**self).subscribers(event_type).await
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        (**self).set_state(id, state).await
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        (**self).rotate(id, rotation).await
    }
}
