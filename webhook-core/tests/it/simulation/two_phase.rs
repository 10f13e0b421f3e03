//! Receiver whose claims and queue are in two systems, with crashes between them.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use webhook_core::{
    memory::{MemoryClaims, MemoryInbox},
    ports::StoreError,
    receiver::{
        Buried, BuriedQuery, Claim, ClaimThenQueue, Dedupe, Finish, Inbox, Incoming, Queue, Queued, Ticket,
    },
};

use super::mutants::others_go_first;

pub(super) struct TwoPhase {
    dedupe: ClaimThenQueue,
    queue: Arc<Broker>,
}

/// Queue with latency in both directions, which stores an event when it arrives.
#[derive(Default)]
struct Broker(MemoryInbox);

impl Default for TwoPhase {
    fn default() -> Self {
        let queue = Arc::new(Broker::default());
        let lease = Duration::from_secs(5);
        Self {
            dedupe: ClaimThenQueue::new(MemoryClaims::default(), queue.clone(), lease),
            queue,
        }
    }
}

#[async_trait::async_trait]
impl Queue for Broker {
    async fn push(&self, event: &Incoming) -> Result<(), StoreError> {
        for _ in 0..20 {
            others_go_first().await;
        }
        self.0
            .claim_and_enqueue(event.clone(), SystemTime::UNIX_EPOCH)
            .await?;
        for _ in 0..20 {
            others_go_first().await;
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl Dedupe for TwoPhase {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        self.dedupe.claim_and_enqueue(event, now).await
    }
}

#[async_trait::async_trait]
impl Inbox for TwoPhase {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        self.queue.0.take(limit, now, lease).await
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        self.queue.0.finish(ticket).await
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        self.queue.0.retry_at(ticket, at).await
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        self.queue.0.bury(ticket, reason, now).await
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        self.queue.0.buried(query).await
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.queue.0.replay_buried(number).await
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.queue.0.discard_buried(number).await
    }
}
