//! Outgoing events (W15), in `webhook_event`, `webhook_ready`, `webhook_finished`,
//! `webhook_attempt` and `webhook_lane`.
//!
//! [`Delivery`](webhook_core::sender::Delivery) makes all decisions: each verb loads rows, decides,
//! and writes them back in a batch. A verb that changes a live row holds the lock of its endpoint's
//! lane. So a lease can count the pending deliveries of an endpoint, and verbs on one endpoint are
//! serialized.

mod attempt;
mod backlog;
mod delivery;
mod enqueue;
mod group;
mod instance;
mod lane;
mod lease;
mod missing;
mod notification;
mod retention;
mod search;
mod settle;
mod turn;

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use sqlx::PgExecutor;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Attempt, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, EndpointId, Enqueue, Enqueued,
    Heartbeat, InstanceId, Lane, LeaseRequest, Leases, Missing, MissingRequest, Outbox, Page, PurgeRequest,
    Receipt, ReplayRequest, Replayed, Retention, Settlement, Turn, TurnRequest,
};

pub use self::backlog::{Backlog, backlog};
pub use self::enqueue::{enqueue_in, send_in};
pub(crate) use self::group::GroupWriter;
pub use self::notification::{EventListener, listen};
use self::retention::Part;
use crate::column::time;
use crate::database::limits::{HEARTBEAT, OPERATION};
use crate::database::{Database, DatabaseError};

#[async_trait]
impl Outbox for Database {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        let writer = self.connections.writer.get_or_init(|| GroupWriter::start(self));
        Ok(writer.enqueue(enqueue).await?)
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        let request = TurnRequest {
            settlements: Vec::new(),
            lease: Some(*request),
        };
        Ok(self.turn(request).await?.leases)
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        let request = TurnRequest {
            settlements,
            lease: None,
        };
        Ok(self.turn(request).await?.receipts)
    }

    async fn turn(&self, request: TurnRequest) -> Result<Turn, StoreError> {
        let (pool, connections) = (self.pool().clone(), Arc::clone(&self.connections));
        let is_soft = self.soft_turns;
        let turn = self.spawn(async move {
            let turns = &connections.turns;
            turns
                .run(&pool, OPERATION, move |connection| {
                    Box::pin(async move { turn::turn(connection, &request, is_soft).await })
                })
                .await
        });
        Ok(turn.await?)
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        let joined = self.run(|pool| async move { instance::join(&pool).await });
        Ok(Some(joined.await?))
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        let (pool, connections) = (self.pool().clone(), Arc::clone(&self.connections));
        let beats = self.spawn(async move {
            let heartbeats = &connections.heartbeats;
            heartbeats
                .run(&pool, HEARTBEAT, move |connection| {
                    Box::pin(instance::beat(connection, instance))
                })
                .await
        });
        Ok(beats.await?)
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        let freed =
            self.run(move |pool| async move { instance::leave(&pool, instance, departure, now).await });
        Ok(freed.await?)
    }

    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        let pulled = self.run(move |pool| async move { instance::pull_forward(&pool, now).await });
        Ok(pulled.await?)
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        let next_due = self.run(|pool| async move { next_due(&pool).await });
        Ok(next_due.await?)
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        let list = self.run_long(|pool| async move { search::list(&pool, &filter, &page).await });
        Ok(list.await?)
    }

    async fn lane(&self, endpoint: &EndpointId) -> Result<Option<Lane>, StoreError> {
        let endpoint = endpoint.clone();
        let lane = self.run(|pool| async move { lane::load(&pool, &endpoint).await });
        Ok(lane.await?)
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        let id = delivery.clone();
        let attempts = self.run(|pool| async move { attempt::attempts(&pool, &id).await });
        Ok(attempts.await?)
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        let request = request.clone();
        let replayed = self.run_long(|pool| async move { search::replay(&pool, &request).await });
        Ok(replayed.await?)
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        let (endpoint, request) = (endpoint.clone(), request.clone());
        let missing = self.run_long(|pool| async move { missing::replay(&pool, &endpoint, &request).await });
        Ok(missing.await?)
    }
}

#[async_trait]
impl Retention for Database {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        let request = *request;
        let purged =
            self.run_long(move |pool| async move { retention::purge(&pool, &request, Part::Event).await });
        Ok(purged.await?)
    }

    async fn expunge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        let request = *request;
        let expunged =
            self.run_long(move |pool| async move { retention::purge(&pool, &request, Part::Body).await });
        Ok(expunged.await?)
    }
}

/// One lookup in the index for each endpoint with live rows, for any backlog.
async fn next_due(connection: impl PgExecutor<'_>) -> Result<Option<SystemTime>, DatabaseError> {
    let due: Option<i64> = sqlx::query_scalar(concat!(
        lane::busy!("true"),
        " SELECT min(greatest(due_at, held_until)) FROM busy JOIN webhook_lane USING (endpoint)"
    ))
    .fetch_one(connection)
    .await?;
    due.map(time).transpose()
}
