//! An outbox that fails, or takes its time, when it is told to.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use tokio::sync::Notify;
use webhook_core::{
    memory::MemoryOutbox,
    ports::StoreError,
    sender::{
        Attempt, Delivery, DeliveryFilter, DeliveryId, Endpoint, Enqueue, Enqueued, LeaseRequest, Leases,
        Missing, MissingRequest, Outbox, Page, Receipt, ReplayRequest, Settlement,
    },
};

use super::fixture::broken;

/// An outbox that cannot write outcomes while it is told so, or only when it is let go on, and notes how many it writes at a
/// time.
#[derive(Default)]
pub(super) struct Failing {
    pub(super) outbox: Arc<MemoryOutbox>,
    pub(super) broken: AtomicBool,
    pub(super) slow: AtomicBool,
    pub(super) go_on: Notify,
    pub(super) batches: Mutex<Vec<usize>>,
}

impl Failing {
    /// In front of `outbox`, and in order until it is told otherwise.
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
        if self.broken.load(Ordering::Relaxed) {
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

    async fn replay(&self, request: &ReplayRequest) -> Result<u64, StoreError> {
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
