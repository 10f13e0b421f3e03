//! The outbox in memory.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;

use crate::{
    event::EventId,
    ports::StoreError,
    sender::{
        Attempt, Delivery, DeliveryFilter, DeliveryId, DeliveryState, EndpointId, Enqueue, Enqueued,
        FailureReason, Lane, Lease, LeaseRequest, Leased, Leases, Outbox, Page, PurgeRequest, Receipt,
        ReplayRequest, Retention, SetAside, Settled, Settlement, StoredEvent,
    },
};

/// An [`Outbox`] that forgets everything when the process ends.
///
/// Events and deliveries stay until then, or until they are [purged](Retention).
#[derive(Debug, Default)]
pub struct MemoryOutbox {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    events: HashMap<EventId, StoredEvent>,
    deliveries: BTreeMap<DeliveryId, Delivery>,
    queues: BTreeMap<EndpointId, Queue>,
    attempts: HashMap<DeliveryId, BTreeMap<u64, Attempt>>,
    turns: u64,
}

/// What is under way to one endpoint, by the time at which it is due.
#[derive(Debug, Default)]
struct Queue {
    lane: Lane,
    last_turn: u64,
    waiting: BTreeSet<(SystemTime, DeliveryId)>,
    leased: BTreeSet<(SystemTime, DeliveryId)>,
}

impl Queue {
    fn index_of(&mut self, state: DeliveryState) -> Option<&mut BTreeSet<(SystemTime, DeliveryId)>> {
        match state {
            DeliveryState::Leased => Some(&mut self.leased),
            state if state.is_live() => Some(&mut self.waiting),
            _ => None,
        }
    }

    fn is_held(&self, now: SystemTime) -> bool {
        self.lane.held_until.is_some_and(|until| until > now)
    }

    fn due(&self, request: &LeaseRequest) -> VecDeque<DeliveryId> {
        if self.is_held(request.now) {
            return VecDeque::new();
        }
        let in_flight = self
            .leased
            .iter()
            .rev()
            .take_while(|(end, _)| *end > request.now)
            .count();
        let share = usize::try_from(self.lane.health.limit).unwrap_or(usize::MAX);
        let room = request.per_endpoint.min(share).saturating_sub(in_flight);
        let is_due = |row: &&(SystemTime, DeliveryId)| row.0 <= request.now;
        let mut due: Vec<_> = (self.waiting.iter().take_while(is_due).take(room))
            .chain(self.leased.iter().take_while(is_due).take(room))
            .collect();
        due.sort_unstable();
        due.into_iter().take(room).map(|(_, id)| id.clone()).collect()
    }

    fn next_due(&self) -> Option<SystemTime> {
        let first = |index: &BTreeSet<(SystemTime, DeliveryId)>| index.first().map(|(due_at, _)| *due_at);
        let due_at = first(&self.waiting)
            .into_iter()
            .chain(first(&self.leased))
            .min()?;
        Some(self.lane.held_until.map_or(due_at, |until| until.max(due_at)))
    }
}

impl Tables {
    /// Writes a row and keeps the lane's index in step.
    fn write(&mut self, delivery: Delivery) {
        let queue = self.queues.entry(delivery.id.endpoint.clone()).or_default();
        if let Some(old) = self.deliveries.get(&delivery.id)
            && let Some(index) = queue.index_of(old.state)
        {
            index.remove(&(old.due_at, old.id.clone()));
        }
        if let Some(index) = queue.index_of(delivery.state) {
            index.insert((delivery.due_at, delivery.id.clone()));
        }
        self.deliveries.insert(delivery.id.clone(), delivery);
    }

    /// Leases what is due, in the order in which endpoints take turns.
    fn lease(&mut self, request: &LeaseRequest) -> Leases {
        let mut queues: Vec<&Queue> = self.queues.values().collect();
        queues.sort_by_key(|queue| queue.last_turn);
        let mut due: Vec<_> = queues.into_iter().map(|queue| queue.due(request)).collect();
        let mut leases = Leases::default();
        while leases.leased.len() < request.limit {
            due.retain(|queue| !queue.is_empty());
            if due.is_empty() {
                break;
            }
            for id in due.iter_mut().filter_map(VecDeque::pop_front) {
                if leases.leased.len() < request.limit {
                    self.lease_one(id, request, &mut leases);
                }
            }
        }
        leases
    }

    fn lease_one(&mut self, id: DeliveryId, request: &LeaseRequest, leases: &mut Leases) {
        let (Some(delivery), Some(event)) = (self.deliveries.get(&id), self.events.get(&id.event)) else {
            return;
        };
        let (mut delivery, event) = (delivery.clone(), event.clone());
        match delivery.lease(request) {
            Lease::Refused => {}
            Lease::Quarantined => {
                self.write(delivery);
                let (delivery, reason) = (id, FailureReason::Quarantined);
                leases.set_aside.push(SetAside { delivery, reason });
            }
            Lease::Taken => {
                self.turns += 1;
                self.queues.entry(id.endpoint).or_default().last_turn = self.turns;
                self.write(delivery.clone());
                leases.leased.push(Leased { delivery, event });
            }
        }
    }

    fn is_over(&self, event: &StoredEvent, request: &PurgeRequest) -> bool {
        let is_over = |delivery: &Delivery| {
            delivery.started_at < request.before
                && !delivery.state.is_live()
                && (request.failed || !delivery.state.is_failed())
        };
        event.created_at < request.before && self.of_event(&event.id).all(is_over)
    }

    fn of_event(&self, event: &EventId) -> impl Iterator<Item = &Delivery> {
        self.deliveries
            .values()
            .filter(move |delivery| delivery.id.event == *event)
    }

    fn purge(&mut self, event: &EventId) {
        let deliveries: Vec<DeliveryId> = self.of_event(event).map(|delivery| delivery.id.clone()).collect();
        for id in deliveries {
            self.deliveries.remove(&id);
            self.attempts.remove(&id);
        }
        self.events.remove(event);
    }

    fn settle(&mut self, settlement: Settlement) -> Receipt {
        let Some(mut delivery) = self.deliveries.get(&settlement.delivery).cloned() else {
            return Receipt {
                settled: Settled::Unknown,
                health: None,
            };
        };
        let settled = delivery.settle(&settlement);
        self.write(delivery);
        let queue = self
            .queues
            .entry(settlement.delivery.endpoint.clone())
            .or_default();
        let health = queue.lane.settle(&settlement, settled);
        if let Some(attempt) = settlement.attempt {
            let log = self.attempts.entry(attempt.delivery.clone()).or_default();
            log.entry(attempt.fence).or_insert(attempt);
        }
        Receipt { settled, health }
    }
}

impl MemoryOutbox {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Outbox for MemoryOutbox {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        let mut tables = self.tables();
        match tables.events.entry(enqueue.event.id.clone()) {
            Entry::Occupied(stored) => {
                let stored = stored.get();
                let same = stored.event_type == enqueue.event.event_type && stored.body == enqueue.event.body;
                return Ok(if same {
                    Enqueued::Duplicate
                } else {
                    Enqueued::Conflict
                });
            }
            Entry::Vacant(place) => {
                place.insert(enqueue.event);
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

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        Ok(self.tables().queues.values().filter_map(Queue::next_due).min())
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        let tables = self.tables();
        let behind = |delivery: &&Delivery| page.after.as_ref().is_none_or(|after| delivery.id > *after);
        let matching = tables
            .deliveries
            .values()
            .filter(behind)
            .filter(|delivery| filter.matches(delivery));
        Ok(matching.take(page.limit).cloned().collect())
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        let tables = self.tables();
        let log = tables.attempts.get(delivery);
        Ok(log.into_iter().flat_map(BTreeMap::values).cloned().collect())
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let matching = tables
            .deliveries
            .values()
            .filter(|delivery| request.filter.matches(delivery));
        let replayed: Vec<Delivery> = matching
            .cloned()
            .filter_map(|mut delivery| delivery.replay(request.now).then_some(delivery))
            .collect();
        let count = u64::try_from(replayed.len()).unwrap_or(u64::MAX);
        if !request.dry_run {
            for delivery in replayed {
                tables.write(delivery);
            }
        }
        Ok(count)
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
}
