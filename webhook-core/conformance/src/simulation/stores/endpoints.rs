//! Endpoint store as one actor sees it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::simulation::{
    census::CrashPoint,
    world::{Actor, World},
};
use webhook_core::{
    event::EventType,
    ports::StoreError,
    sender::{
        Audience, Endpoint, EndpointId, EndpointQuery, EndpointState, EndpointStore, EndpointUpdate,
        Inserted, Rotated, Rotation,
    },
};

pub(in super::super) struct SimulatedEndpoints {
    pub(in super::super) inner: Arc<dyn EndpointStore>,
    pub(in super::super) world: Arc<World>,
    pub(in super::super) actor: Actor,
}

#[async_trait]
impl EndpointStore for SimulatedEndpoints {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        self.world.verb(self.inner.insert(endpoint)).await
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        self.world.reach_endpoints(self.actor).await?;
        self.world.verb(self.inner.load(id)).await
    }

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        self.world.reach_endpoints(self.actor).await?;
        self.world
            .verb(self.inner.subscribers(event_type, audience))
            .await
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        self.world.verb(self.inner.list_endpoints(query)).await
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        self.world.verb(self.inner.update(id, update)).await
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        self.world.verb(self.inner.delete(id)).await
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let world = &self.world;
        world.reach_endpoints(self.actor).await?;
        world.pass(self.actor, CrashPoint::InStateChange).await?;
        let known = world.verb(self.inner.set_state(id, state)).await?;
        {
            let mut shared = world.state();
            if state == EndpointState::Disabled {
                shared.ledger.disabled.insert(id.clone());
            }
            shared.tell(|| format!("{}: sets {id} {state}", self.actor));
        }
        world.wake_dispatchers();
        world.pass(self.actor, CrashPoint::InStateChange).await?;
        Ok(known)
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let world = &self.world;
        world.reach_endpoints(self.actor).await?;
        world.pass(self.actor, CrashPoint::InRotation).await?;
        let rotated = world.verb(self.inner.rotate(id, rotation)).await?;
        world.tell(|| format!("{}: rotates the secret of {id}: {rotated:?}", self.actor));
        world.pass(self.actor, CrashPoint::InRotation).await?;
        Ok(rotated)
    }
}
