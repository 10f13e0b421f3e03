//! The port that keeps the registered endpoints.

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
/// - **Signers hold secrets.** Whoever reads the store can forge messages: [`SignersAtRest`](super::SignersAtRest) writes and reads
///   them, sealed where the host has a key.
///
/// The kit `testing::endpoint_store!` checks this.
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

    /// The endpoints that get events of this type, by ascending id: those that are not disabled and whose filter matches.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn subscribed(&self, event_type: &EventType) -> Result<Vec<Endpoint>, StoreError>;

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
