//! In-memory endpoint store.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    event::EventType,
    ports::StoreError,
    sender::{
        Audience, Endpoint, EndpointId, EndpointQuery, EndpointState, EndpointStore, EndpointUpdate,
        Inserted, Rotated, Rotation,
    },
};

/// [`EndpointStore`] in memory. All endpoints are lost when the process ends.
#[derive(Debug, Default)]
pub struct MemoryEndpoints {
    endpoints: Mutex<BTreeMap<EndpointId, Endpoint>>,
}

impl MemoryEndpoints {
    fn endpoints(&self) -> MutexGuard<'_, BTreeMap<EndpointId, Endpoint>> {
        self.endpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl EndpointStore for MemoryEndpoints {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        match self.endpoints().entry(endpoint.id.clone()) {
            Entry::Occupied(_) => Ok(Inserted::AlreadyExists),
            Entry::Vacant(place) => {
                place.insert(endpoint);
                Ok(Inserted::Inserted)
            }
        }
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        Ok(self.endpoints().get(id).cloned())
    }

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        let endpoints = self.endpoints();
        let subscribers = endpoints
            .values()
            .filter(|endpoint| endpoint.subscribes_to(event_type, audience));
        Ok(subscribers.map(|endpoint| endpoint.id.clone()).collect())
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        let endpoints = self.endpoints();
        let selected = endpoints
            .values()
            .filter(|endpoint| query.matches(&endpoint.id, &endpoint.owner))
            .take(query.limit);
        Ok(selected.map(|endpoint| endpoint.id.clone()).collect())
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        let mut endpoints = self.endpoints();
        let endpoint = endpoints.get_mut(id);
        Ok(endpoint.map(|endpoint| endpoint.update(update)).is_some())
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        Ok(self.endpoints().remove(id).is_some())
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let mut endpoints = self.endpoints();
        let endpoint = endpoints.get_mut(id);
        Ok(endpoint.map(|endpoint| endpoint.state = state).is_some())
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let mut endpoints = self.endpoints();
        Ok(endpoints
            .get_mut(id)
            .map_or(Rotated::Unknown, |endpoint| endpoint.rotate(rotation)))
    }
}
