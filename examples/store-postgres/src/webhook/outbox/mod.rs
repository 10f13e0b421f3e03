//! Events on their way out (W15), in `webhook_event`, `webhook_ready`, `webhook_finished`, `webhook_attempt` and `webhook_lane`.
//!
//! What may happen to a delivery is decided by [`Delivery`](webhook_core::sender::Delivery) alone: each verb loads rows, asks it,
//! and writes them back, a batch at a time. Whoever changes a live row holds the lock of its endpoint's lane, so that a lease can
//! count what an endpoint has under way, and two verbs on one endpoint happen one after the other.

mod attempt;
mod delivery;
mod enqueue;
mod lane;
mod lease;
mod search;
mod settle;

use std::time::SystemTime;

use async_trait::async_trait;
use sqlx::PgPool;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Attempt, Delivery, DeliveryFilter, DeliveryId, Enqueue, Enqueued, LeaseRequest, Leases, Outbox, Page,
    Receipt, ReplayRequest, Settlement,
};

pub use self::enqueue::enqueue_in;
use crate::column::time;
use crate::database::{Database, DatabaseError};

#[async_trait]
impl Outbox for Database {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        let enqueued = self.run(|pool| async move { enqueue::enqueue(&pool, &enqueue).await });
        Ok(enqueued.await?)
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        let request = *request;
        let leased = self.run(move |pool| async move { lease::lease(&pool, &request).await });
        Ok(leased.await?)
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        let settled = self.run(|pool| async move { settle::settle(&pool, &settlements).await });
        Ok(settled.await?)
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        let next_due = self.run(|pool| async move { next_due(&pool).await });
        Ok(next_due.await?)
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        let list = self.run(|pool| async move { search::list(&pool, &filter, &page).await });
        Ok(list.await?)
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        let id = delivery.clone();
        let attempts = self.run(|pool| async move { attempt::attempts(&pool, &id).await });
        Ok(attempts.await?)
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<u64, StoreError> {
        let request = request.clone();
        let replayed = self.run(|pool| async move { search::replay(&pool, &request).await });
        Ok(replayed.await?)
    }
}

/// One look into the index for each lane, however much waits in it.
async fn next_due(pool: &PgPool) -> Result<Option<SystemTime>, DatabaseError> {
    let due: Option<i64> = sqlx::query_scalar(
        "SELECT min(CASE WHEN due_at IS NOT NULL THEN greatest(due_at, held_until) END)
         FROM (SELECT held_until, (
                   SELECT min(due_at) FROM webhook_ready AS ready WHERE ready.endpoint = lane.endpoint
               ) AS due_at
               FROM webhook_lane AS lane) AS lane",
    )
    .fetch_one(pool)
    .await?;
    due.map(time).transpose()
}
