//! Stores that fail or stall on command.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use tokio::sync::Notify;
use webhook_core::{
    event::EventType,
    memory::{MemoryEndpoints, MemoryOutbox},
    ports::StoreError,
    sender::{
        Attempt, Audience, Delivery, DeliveryFilter, DeliveryId, Endpoint, EndpointId, EndpointQuery,
        EndpointState, EndpointStore, EndpointUpdate, Enqueue, Enqueued, Inserted, LeaseRequest, Leases,
        Missing, MissingRequest, Outbox, Page, Receipt, ReplayRequest, Replayed, Rotated, Rotation,
        Settlement,
    },
};

use super::fixture::broken;

/// Outbox that fails to write outcomes, or writes them only when allowed, and records the sizes of
/// the batches.
#[derive(Default)]
pub(super) struct Failing {
    pub(super) outbox: Arc<MemoryOutbox>,
    pub(super) broken: AtomicBool,
    /// A row that makes every batch with it fail.
    pub(super) bad_row: Mutex<Option<DeliveryId>>,
    pub(super) slow: AtomicBool,
    pub(super) failures: AtomicUsize,
    pub(super) go_on: Notify,
    pub(super) batches: Mutex<Vec<usize>>,
}

impl Failing {
    /// Wraps `outbox`, without faults at first.
    pub(super) fn over(outbox: &Arc<MemoryOutbox>) -> Arc<Self> {
        Arc::new(Self {
            outbox: outbox.clone(),
            ..Self::default()
        })
    }
}

#[async_trait::async_trait]
impl Outbox for Failing {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        self.outbox.enqueue(enqueue).await
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        self.outbox.lease(request).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        let bad_row = self.bad_row.lock().unwrap().clone();
        let is_bad = |settlement: &Settlement| Some(&settlement.delivery) == bad_row.as_ref();
        if self.broken.load(Ordering::Relaxed) || settlements.iter().any(is_bad) {
            self.failures.fetch_add(1, Ordering::Relaxed);
            return Err(broken());
        }
        if self.slow.load(Ordering::Relaxed) {
            self.go_on.notified().await;
        }
        self.batches.lock().unwrap().push(settlements.len());
        self.outbox.settle(settlements).await
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

/// Fault of a call to a failing endpoint store.
#[derive(Clone, Copy)]
pub(super) enum Mishap {
    Error,
    Panic,
}

/// Endpoint store that fails to read and to write while a fault is set.
pub(super) struct FailingEndpoints {
    pub(super) endpoints: Arc<MemoryEndpoints>,
    /// The endpoint whose row fails; `None` for all.
    pub(super) of: Option<EndpointId>,
    pub(super) unreadable: Mutex<Option<Mishap>>,
    pub(super) unwritable: Mutex<Option<Mishap>>,
}

impl FailingEndpoints {
    pub(super) fn over(endpoints: &Arc<MemoryEndpoints>) -> Self {
        Self {
            endpoints: endpoints.clone(),
            of: None,
            unreadable: Mutex::default(),
            unwritable: Mutex::default(),
        }
    }

    fn meet(&self, id: &EndpointId, mishap: &Mutex<Option<Mishap>>) -> Result<(), StoreError> {
        let mishap = *mishap.lock().unwrap();
        match mishap.filter(|_| self.of.as_ref().is_none_or(|of| of == id)) {
            None => Ok(()),
            Some(Mishap::Error) => Err(broken()),
            Some(Mishap::Panic) => panic!("a bug of the host"),
        }
    }
}

#[async_trait::async_trait]
impl EndpointStore for FailingEndpoints {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        self.endpoints.insert(endpoint).await
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        self.meet(id, &self.unreadable)?;
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
        self.meet(id, &self.unwritable)?;
        self.endpoints.set_state(id, state).await
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        self.endpoints.rotate(id, rotation).await
    }
}
