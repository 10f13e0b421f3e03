//! The port that keeps the registered endpoints.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Endpoint, EndpointId, EndpointState, Rotated, Rotation};
use crate::{event::EventType, ports::StoreError};

/// What came of an insert.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Inserted {
    /// The endpoint is stored.
    Inserted,
    /// There is one with this id; nothing was changed.
    AlreadyExists,
}

/// Keeps the registered endpoints.
///
/// # What an implementation must guarantee
///
/// - **Each verb is one atomic step**, durable before it answers.
/// - **[`rotate`](Self::rotate) loses nothing**: of two rotations at once, the second sees what the first wrote.
/// - **One endpoint that cannot be read stops nobody.** [`subscribers`](Self::subscribers) needs no signers and no URL: it opens
///   no seal, and names an endpoint whose row is unreadable otherwise like any other. What is stored for it waits until it can
///   be loaded.
/// - **Each verb answers, or fails, well within a lease**, which is the deadline of an exchange and half a minute, so 40 seconds as
///   a rule. A dispatcher sets it no limit of its own: a [`load`](Self::load) that hangs longer loses the lease, and after five
///   of them the delivery is quarantined like one that crashes its dispatchers.
/// - **Signers hold secrets.** Whoever reads the store can forge messages: [`SignersAtRest`](super::SignersAtRest) writes and reads
///   them, sealed where the host has a key.
///
/// The kit `endpoint_store!` of `webhook-core-conformance` checks this, but for rows that cannot be read: these a store's own tests must make.
#[async_trait]
pub trait EndpointStore: Send + Sync {
    /// Stores a new endpoint, unless the id is taken.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError>;

    /// The endpoint with this id.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError>;

    /// Who gets events of this type, by ascending id: the endpoints that are not disabled and whose filter matches.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; but not because something else of a row cannot be read.
    async fn subscribers(&self, event_type: &EventType) -> Result<Vec<EndpointId>, StoreError>;

    /// Enables, pauses or disables an endpoint. `false` when there is none with this id.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError>;

    /// Changes an endpoint's secret: loads it, calls [`Endpoint::rotate`], and writes it, in one step.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
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
