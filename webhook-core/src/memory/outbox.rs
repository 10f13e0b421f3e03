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
        LeaseRequest, Leased, Outbox, Page, ReplayRequest, Settled, Settlement, StoredEvent,
    },
};

/// An [`Outbox`] that forgets everything when the process ends.
///
/// Events and deliveries stay until then, whatever became of them.
#[derive(Debug, Default)]
pub struct MemoryOutbox {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    events: HashMap<EventId, StoredEvent>,
    deliveries: BTreeMap<DeliveryId, Delivery>,
    lanes: BTreeMap<EndpointId, Lane>,
    attempts: HashMap<DeliveryId, BTreeMap<u64, Attempt>>,
    turns: u64,
}

/// What is under way to one endpoint, by the time at which it is due.
#[derive(Debug, Default)]
struct Lane {
    held_until: Option<SystemTime>,
    last_turn: u64,
    waiting: BTreeSet<(SystemTime, DeliveryId)>,
    leased: BTreeSet<(SystemTime, DeliveryId)>,
}

impl Lane {
    fn index_of(&mut self, state: DeliveryState) -> Option<&mut BTreeSet<(SystemTime, DeliveryId)>> {
        match state {
            DeliveryState::Leased => Some(&mut self.leased),
            state if state.is_live() => Some(&mut self.waiting),
            _ => None,
        }
    }

    fn is_held(&self, now: SystemTime) -> bool {
        self.held_until.is_some_and(|until| until > now)
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
        let room = request.per_endpoint.saturating_sub(in_flight).min(request.limit);
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
        Some(self.held_until.map_or(due_at, |until| until.max(due_at)))
    }
}

impl Tables {
    /// Writes a row and keeps the lane's index in step.
    fn write(&mut self, delivery: Delivery) {
        let lane = self.lanes.entry(delivery.id.endpoint.clone()).or_default();
        if let Some(old) = self.deliveries.get(&delivery.id)
            && let Some(index) = lane.index_of(old.state)
        {
            index.remove(&(old.due_at, old.id.clone()));
        }
        if let Some(index) = lane.index_of(delivery.state) {
            index.insert((delivery.due_at, delivery.id.clone()));
        }
        self.deliveries.insert(delivery.id.clone(), delivery);
    }

    /// What is due, in the order in which endpoints take turns.
    fn take_turns(&self, request: &LeaseRequest) -> Vec<DeliveryId> {
        let mut lanes: Vec<&Lane> = self.lanes.values().collect();
        lanes.sort_by_key(|lane| lane.last_turn);
        let mut queues: Vec<_> = lanes.into_iter().map(|lane| lane.due(request)).collect();
        let mut picked = Vec::new();
        while picked.len() < request.limit {
            queues.retain(|queue| !queue.is_empty());
            if queues.is_empty() {
                break;
            }
            let room = request.limit - picked.len();
            picked.extend(queues.iter_mut().take(room).filter_map(VecDeque::pop_front));
        }
        picked
    }

    fn lease(&mut self, id: &DeliveryId, request: &LeaseRequest) -> Option<Leased> {
        let mut delivery = self.deliveries.get(id)?.clone();
        let event = self.events.get(&id.event)?.clone();
        if !delivery.lease(request.now, request.until) {
            return None;
        }
        self.turns += 1;
        self.lanes.entry(id.endpoint.clone()).or_default().last_turn = self.turns;
        self.write(delivery.clone());
        Some(Leased { delivery, event })
    }

    fn settle(&mut self, settlement: Settlement) -> Settled {
        let Some(mut delivery) = self.deliveries.get(&settlement.delivery).cloned() else {
            return Settled::Unknown;
        };
        let settled = delivery.settle(&settlement);
        self.write(delivery);
        let lane = self.lanes.entry(settlement.delivery.endpoint).or_default();
        lane.held_until = lane.held_until.max(settlement.hold_endpoint_until);
        if let Some(attempt) = settlement.attempt {
            let log = self.attempts.entry(attempt.delivery.clone()).or_default();
            log.entry(attempt.fence).or_insert(attempt);
        }
        settled
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

    async fn lease(&self, request: &LeaseRequest) -> Result<Vec<Leased>, StoreError> {
        let mut tables = self.tables();
        let picked = tables.take_turns(request);
        Ok(picked.iter().filter_map(|id| tables.lease(id, request)).collect())
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        let mut tables = self.tables();
        Ok(settlements
            .into_iter()
            .map(|settlement| tables.settle(settlement))
            .collect())
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        Ok(self.tables().lanes.values().filter_map(Lane::next_due).min())
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
