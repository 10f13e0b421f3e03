//! Store port for registered endpoints.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Endpoint, EndpointId, EndpointState, EndpointUpdate, Rotated, Rotation};
use crate::{
    event::EventType,
    ports::StoreError,
    sender::{Audience, Owner},
};

/// Result of [`EndpointStore::insert`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Inserted {
    /// The endpoint was stored.
    Inserted,
    /// The id is taken. Nothing changed.
    AlreadyExists,
}

/// Selection and page of [`EndpointStore::list_endpoints`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EndpointQuery {
    /// Owner of the endpoints; `None` for all owners.
    pub owner: Option<Owner>,
    /// Last endpoint of the previous page; `None` for the first page.
    pub after: Option<EndpointId>,
    /// Maximum number of endpoints.
    pub limit: usize,
}

impl EndpointQuery {
    /// Selects the first 100 endpoints of this owner.
    #[must_use]
    pub const fn of(owner: Owner) -> Self {
        Self {
            owner: Some(owner),
            after: None,
            limit: 100,
        }
    }

    /// Returns `true` if the endpoint belongs to the owner and comes after the previous page.
    #[must_use]
    pub fn matches(&self, id: &EndpointId, owner: &Owner) -> bool {
        self.owner.as_ref().is_none_or(|wanted| wanted == owner)
            && self.after.as_ref().is_none_or(|after| after < id)
    }
}

/// Store of the registered endpoints.
///
/// # Contract
///
/// - **Atomicity.** Each method is one atomic step and durable before it returns.
/// - **No lost change.** Of two concurrent calls of [`rotate`](Self::rotate) or
///   [`update`](Self::update), the second sees the result of the first.
/// - **Tenants.** [`subscribers`](Self::subscribers) returns endpoints of the audience only. No
///   method changes the owner of an endpoint.
/// - **Isolation of unreadable rows.** [`subscribers`](Self::subscribers) reads neither signers nor
///   URL and decrypts nothing, so it also returns endpoints whose signers or URL are unreadable.
///   Their deliveries wait until [`load`](Self::load) can read the endpoint.
/// - **Time limit.** The dispatcher drops the future of a call after 10 seconds, and treats it as
///   an error of the store.
/// - **Secrets.** An attacker who can read the signers can forge messages. Write and read them with
///   [`SecretsAtRest`](super::SecretsAtRest), which encrypts them if the host has a key. The static
///   headers of an endpoint are stored in the same way.
///
/// The kits `endpoint_store!` and `endpoint_management!` of `webhook-core-conformance` check these
/// rules, except unreadable rows, which the store's own tests must create.
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

    /// Ids of the endpoints that subscribe to this type of this audience, in ascending order.
    ///
    /// An endpoint subscribes if it is not disabled, belongs to the audience, and its filter
    /// accepts the type ([`Endpoint::subscribes_to`]).
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. Unreadable signers or URLs are no error here.
    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError>;

    /// Ids of the endpoints that the query selects, in ascending order.
    ///
    /// It returns ids, so that an unreadable row does not hide the other endpoints. Load them with
    /// [`load_many`](Self::load_many).
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError>;

    /// Changes an endpoint: load, [`Endpoint::update`] and write, in one atomic step. Returns
    /// `false` if the id is unknown.
    ///
    /// Deliveries that wait are sent to the new URL, also if the new filter does not accept their
    /// type.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails or the row is unreadable.
    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError>;

    /// Deletes an endpoint; returns `false` if the id is unknown.
    ///
    /// Its waiting deliveries fail when they are due, with the reason
    /// [`EndpointUnknown`](crate::sender::FailureReason::EndpointUnknown). They stay in the outbox
    /// for inspection until they are purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. An unreadable row can be deleted.
    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError>;

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

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        (**self).subscribers(event_type, audience).await
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        (**self).list_endpoints(query).await
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        (**self).update(id, update).await
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        (**self).delete(id).await
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        (**self).set_state(id, state).await
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        (**self).rotate(id, rotation).await
    }
}
