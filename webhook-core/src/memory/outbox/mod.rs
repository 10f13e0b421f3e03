//! In-memory outbox.

mod queue;
mod tables;

use std::{
    collections::{BTreeMap, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;

use self::{
    queue::Queue,
    tables::{Tables, place},
};
use crate::{
    event::EventId,
    ports::StoreError,
    sender::{
        Attempt, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, EndpointId, Enqueue, Enqueued,
        Heartbeat, InstanceId, Lane, LeaseRequest, Leases, Missing, MissingRequest, Outbox, Page,
        PurgeRequest, Receipt, ReplayRequest, Replayed, Retention, Settlement,
    },
};

/// [`Outbox`] in memory. All data is lost when the process ends.
///
/// Events and deliveries stay until then, or until they are [purged](Retention).
#[derive(Debug, Default)]
pub struct MemoryOutbox {
    tables: Mutex<Tables>,
}

impl MemoryOutbox {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Outbox for MemoryOutbox {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        let tables = &mut *self.tables();
        match tables.events.entry(enqueue.event.id.clone()) {
            Entry::Occupied(stored) => {
                let stored = stored.get();
                let event = &enqueue.event;
                let same = stored.event_type == event.event_type
                    && stored.audience == event.audience
                    && (stored.body == event.body || tables.expunged.contains(&event.id));
                return Ok(if same {
                    Enqueued::Duplicate
                } else {
                    Enqueued::Conflict
                });
            }
            Entry::Vacant(vacant) => {
                let event = vacant.insert(enqueue.event);
                let place = place(event);
                tables.by_creation.insert(place);
            }
        }
        for delivery in enqueue.deliveries {
            tables.write(delivery);
        }
        Ok(Enqueued::Enqueued)
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        Ok(self.tables().lease(request))
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        let mut tables = self.tables();
        Ok(settlements
            .into_iter()
            .map(|settlement| tables.settle(settlement))
            .collect())
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        Ok(Some(self.tables().join()))
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        Ok(self.tables().beat(instance))
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        Ok(self.tables().leave(instance, departure, now))
    }

    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.tables().change_all(|delivery| delivery.pull_forward(now)))
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        Ok(self.tables().queues.values().filter_map(Queue::next_due).min())
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        let tables = self.tables();
        let behind = |delivery: &&Delivery| page.after.as_ref().is_none_or(|after| delivery.id > *after);
        let matching = tables.matching(filter).filter(behind);
        Ok(matching.take(page.limit).cloned().collect())
    }

    async fn lane(&self, endpoint: &EndpointId) -> Result<Option<Lane>, StoreError> {
        Ok(self.tables().queues.get(endpoint).map(|queue| queue.lane))
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        let tables = self.tables();
        let log = tables.attempts.get(delivery);
        Ok(log.into_iter().flat_map(BTreeMap::values).cloned().collect())
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        let mut tables = self.tables();
        let behind = |delivery: &&Delivery| request.after.as_ref().is_none_or(|after| delivery.id > *after);
        let mut replayed: Vec<Delivery> = tables
            .matching(&request.filter)
            .filter(behind)
            .filter(|delivery| !tables.expunged.contains(&delivery.id.event))
            .cloned()
            .filter_map(|mut delivery| {
                let restarted = if request.acknowledged {
                    delivery.resend(request.now)
                } else {
                    delivery.replay(request.now)
                };
                restarted.then_some(delivery)
            })
            .take(request.limit.saturating_add(1))
            .collect();
        let has_more = replayed.len() > request.limit;
        replayed.truncate(request.limit);
        let count = u64::try_from(replayed.len()).unwrap_or(u64::MAX);
        let last = replayed.last().map(|delivery| delivery.id.clone());
        if !request.dry_run {
            for delivery in replayed {
                tables.write(delivery);
            }
        }
        Ok(Replayed {
            count,
            last,
            has_more,
        })
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        Ok(self.tables().replay_missing(endpoint, request))
    }
}

#[async_trait]
impl Retention for MemoryOutbox {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let old = tables
            .events
            .values()
            .filter(|event| tables.is_over(event, request));
        let old: Vec<EventId> = old.take(request.limit).map(|event| event.id.clone()).collect();
        for event in &old {
            tables.purge(event);
        }
        Ok(u64::try_from(old.len()).unwrap_or(u64::MAX))
    }

    async fn expunge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let old = tables
            .events
            .values()
            .filter(|event| !tables.expunged.contains(&event.id) && tables.is_over(event, request));
        let old: Vec<EventId> = old.take(request.limit).map(|event| event.id.clone()).collect();
        for event in &old {
            tables.expunge(event);
        }
        Ok(u64::try_from(old.len()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests;
