//! Outgoing events (W15), in `webhook_event`, `webhook_ready`, `webhook_finished`,
//! `webhook_attempt` and `webhook_lane`.
//!
//! [`Delivery`](webhook_core::sender::Delivery) makes all decisions: each verb loads rows, decides,
//! and writes them back in a batch. A verb that changes a live row holds the lock of its endpoint's
//! lane. So a lease can count the pending deliveries of an endpoint, and verbs on one endpoint are
//! serialized.

mod attempt;
mod delivery;
mod enqueue;
mod lane;
mod lease;
mod missing;
mod retention;
mod search;
mod settle;

use std::time::SystemTime;

use async_trait::async_trait;
use sqlx::PgPool;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Attempt, Delivery, DeliveryFilter, DeliveryId, Endpoint, Enqueue, Enqueued, LeaseRequest, Leases,
    Missing, MissingRequest, Outbox, Page, PurgeRequest, Receipt, ReplayRequest, Retention, Settlement,
};

pub use self::enqueue::{enqueue_in, send_in};
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

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        let (endpoint, request) = (endpoint.clone(), request.clone());
        let missing = self.run(|pool| async move { missing::replay(&pool, &endpoint, &request).await });
        Ok(missing.await?)
    }
}

#[async_trait]
impl Retention for Database {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        let request = *request;
        let purged = self.run(move |pool| async move { retention::purge(&pool, &request).await });
        Ok(purged.await?)
    }
}

/// One lookup in the index for each endpoint with live rows, for any backlog.
async fn next_due(pool: &PgPool) -> Result<Option<SystemTime>, DatabaseError> {
    let due: Option<i64> = sqlx::query_scalar(concat!(
        lane::busy!("true"),
        " SELECT min(greatest(due_at, held_until)) FROM busy JOIN webhook_lane USING (endpoint)"
    ))
    .fetch_one(pool)
    .await?;
    due.map(time).transpose()
}
