//! Stores whose calls hang on command.

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::SystemTime,
};

use webhook_core::{
    event::EventType,
    memory::{MemoryEndpoints, MemoryOutbox},
    ports::StoreError,
    sender::{
        Attempt, Audience, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, EndpointId,
        EndpointQuery, EndpointState, EndpointStore, EndpointUpdate, Enqueue, Enqueued, Heartbeat, Inserted,
        InstanceId, LeaseRequest, Leases, Missing, MissingRequest, Outbox, Page, Receipt, ReplayRequest,
        Replayed, Rotated, Rotation, Settlement, Turn, TurnRequest,
    },
};

/// Call that hangs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stuck {
    /// A turn, before it writes.
    Turn,
    /// A turn, after it has written.
    TurnResult,
    Settle,
    Join,
    Beat,
    Load,
}

/// Outbox and endpoint store in memory, of which one call hangs while it is set.
#[derive(Clone, Default)]
pub(super) struct StuckStore {
    pub(super) outbox: Arc<MemoryOutbox>,
    pub(super) endpoints: Arc<MemoryEndpoints>,
    pub(super) stuck: Arc<Mutex<Option<Stuck>>>,
}

impl StuckStore {
    pub(super) fn set(&self, stuck: Option<Stuck>) {
        *self.stuck.lock().unwrap() = stuck;
    }

    async fn pass(&self, call: Stuck) {
        let is_stuck = *self.stuck.lock().unwrap() == Some(call);
        if is_stuck {
            pending::<()>().await;
        }
    }
}

#[async_trait::async_trait]
impl Outbox for StuckStore {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        self.outbox.enqueue(enqueue).await
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        self.outbox.lease(request).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        self.pass(Stuck::Settle).await;
        self.outbox.settle(settlements).await
    }

    async fn turn(&self, request: TurnRequest) -> Result<Turn, StoreError> {
        self.pass(Stuck::Turn).await;
        let turn = self.outbox.turn(request).await?;
        self.pass(Stuck::TurnResult).await;
        Ok(turn)
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        self.pass(Stuck::Join).await;
        self.outbox.join().await
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        self.pass(Stuck::Beat).await;
        self.outbox.beat(instance).await
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        self.outbox.leave(instance, departure, now).await
    }

    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.outbox.pull_forward(now).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        self.outbox.next_due().await
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        self.outbox.list(filter, page).await
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        self.outbox.attempts(delivery).await
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        self.outbox.replay(request).await
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        self.outbox.replay_missing(endpoint, request).await
    }
}

#[async_trait::async_trait]
impl EndpointStore for StuckStore {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        self.endpoints.insert(endpoint).await
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        self.pass(Stuck::Load).await;
        self.endpoints.load(id).await
    }

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        self.endpoints.subscribers(event_type, audience).await
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        self.endpoints.list_endpoints(query).await
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        self.endpoints.update(id, update).await
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        self.endpoints.delete(id).await
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        self.endpoints.set_state(id, state).await
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        self.endpoints.rotate(id, rotation).await
    }
}
