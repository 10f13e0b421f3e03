//! In-memory endpoint store.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    event::EventType,
    ports::StoreError,
    sender::{Endpoint, EndpointId, EndpointState, EndpointStore, Inserted, Rotated, Rotation},
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

    async fn subscribers(&self, event_type: &EventType) -> Result<Vec<EndpointId>, StoreError> {
        let endpoints = self.endpoints();
        let subscribers = endpoints
            .values()
            .filter(|endpoint| endpoint.subscribes_to(event_type));
        Ok(subscribers.map(|endpoint| endpoint.id.clone()).collect())
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
