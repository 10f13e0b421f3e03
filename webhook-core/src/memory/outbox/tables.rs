//! Tables of the in-memory outbox and their changes.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    ops::Bound::{Excluded, Unbounded},
    time::SystemTime,
};

use bytes::Bytes;

use super::queue::Queue;
use crate::{
    event::EventId,
    sender::{
        Attempt, Bulkheads, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, EndpointId,
        EventPlace, FailureReason, Heartbeat, InstanceId, Lease, LeaseRequest, Leased, Leases, Missing,
        MissingRequest, PurgeRequest, Receipt, SetAside, Settled, Settlement, Standing, StoredEvent,
    },
};

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) events: HashMap<EventId, StoredEvent>,
    /// Events whose bodies were deleted.
    pub(super) expunged: HashSet<EventId>,
    pub(super) by_creation: BTreeSet<EventPlace>,
    pub(super) deliveries: BTreeMap<DeliveryId, Delivery>,
    pub(super) queues: BTreeMap<EndpointId, Queue>,
    pub(super) attempts: HashMap<DeliveryId, BTreeMap<u64, Attempt>>,
    turns: u64,
    /// Heartbeat counters of the instances.
    instances: BTreeMap<InstanceId, u64>,
    latest_instance: u64,
}

impl Tables {
    /// Writes a row and updates the index of its queue.
    pub(super) fn write(&mut self, delivery: Delivery) {
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

    /// Leases due deliveries: suspects first, up to their limit, then the others.
    pub(super) fn lease(&mut self, request: &LeaseRequest) -> Leases {
        let mut leases = Leases::default();
        if request
            .owner
            .is_some_and(|owner| !self.instances.contains_key(&owner))
        {
            return leases;
        }
        let mut bulkheads = request.bulkheads;
        let suspects = LeaseRequest {
            limit: request.limit.min(request.suspects),
            ..*request
        };
        self.lease_those(&suspects, true, &mut bulkheads, &mut leases);
        let others = LeaseRequest {
            limit: request.limit - leases.leased.len(),
            ..*request
        };
        self.lease_those(&others, false, &mut bulkheads, &mut leases);
        leases
    }

    /// Leases due suspects, or due deliveries that are not suspects, in the order of the endpoints'
    /// turns.
    fn lease_those(
        &mut self,
        request: &LeaseRequest,
        suspects: bool,
        bulkheads: &mut Bulkheads,
        leases: &mut Leases,
    ) {
        let mut due = if request.limit == 0 {
            Vec::new()
        } else {
            self.due(request, suspects)
        };
        let most = leases.leased.len() + request.limit;
        while leases.leased.len() < most {
            due.retain(|(standing, queue)| !queue.is_empty() && bulkheads.room(*standing) > 0);
            if due.is_empty() {
                break;
            }
            for (standing, queue) in &mut due {
                if leases.leased.len() < most
                    && bulkheads.room(*standing) > 0
                    && let Some(id) = queue.pop_front()
                    && self.lease_one(id, *standing, request, leases)
                {
                    bulkheads.take(*standing);
                }
            }
        }
    }

    /// Due deliveries of each endpoint, in the order of the turns.
    fn due(&self, request: &LeaseRequest, suspects: bool) -> Vec<(Standing, VecDeque<DeliveryId>)> {
        let mut queues: Vec<&Queue> = self.queues.values().collect();
        queues.sort_by_key(|queue| queue.last_turn);
        let becomes_suspect = |id: &DeliveryId| {
            let row = self.deliveries.get(id);
            row.is_some_and(Delivery::becomes_suspect)
        };
        let due = queues.into_iter().map(|queue| {
            let due = queue.due(request, suspects, becomes_suspect);
            (queue.lane.standing, due)
        });
        due.collect()
    }

    /// Returns `true` if the delivery was leased.
    fn lease_one(
        &mut self,
        id: DeliveryId,
        standing: Standing,
        request: &LeaseRequest,
        leases: &mut Leases,
    ) -> bool {
        let (Some(delivery), Some(event)) = (self.deliveries.get(&id), self.events.get(&id.event)) else {
            return false;
        };
        let (mut delivery, event) = (delivery.clone(), event.clone());
        let due_at = delivery.due_at;
        match delivery.lease(request) {
            Lease::Refused => false,
            Lease::Quarantined => {
                self.write(delivery);
                let (delivery, reason) = (id, FailureReason::Quarantined);
                leases.set_aside.push(SetAside { delivery, reason });
                false
            }
            Lease::Taken => {
                self.turns += 1;
                self.queues.entry(id.endpoint).or_default().last_turn = self.turns;
                self.write(delivery.clone());
                leases.leased.push(Leased {
                    delivery,
                    event,
                    due_at,
                    standing,
                });
                true
            }
        }
    }

    pub(super) fn join(&mut self) -> InstanceId {
        self.latest_instance += 1;
        let instance = InstanceId::new(self.latest_instance);
        self.instances.insert(instance, 0);
        instance
    }

    pub(super) fn beat(&mut self, instance: InstanceId) -> Vec<Heartbeat> {
        if let Some(counter) = self.instances.get_mut(&instance) {
            *counter = counter.wrapping_add(1);
        }
        let beats = self.instances.iter();
        let beats = beats.map(|(&instance, &counter)| Heartbeat { instance, counter });
        beats.collect()
    }

    pub(super) fn leave(&mut self, instance: InstanceId, departure: Departure, now: SystemTime) -> u64 {
        let counter = self.instances.get(&instance).copied();
        match departure {
            Departure::Silent { counter: seen } if counter.is_some_and(|counter| counter != seen) => {
                return 0;
            }
            Departure::Silent { .. } | Departure::Stopped => self.instances.remove(&instance),
        };
        self.change_all(|delivery| delivery.free(instance, departure, now))
    }

    /// Changes all rows for which `change` returns `true`; returns their number.
    pub(super) fn change_all(&mut self, mut change: impl FnMut(&mut Delivery) -> bool) -> u64 {
        let changed: Vec<Delivery> = self
            .deliveries
            .values()
            .filter(|delivery| delivery.state.is_live())
            .cloned()
            .filter_map(|mut delivery| change(&mut delivery).then_some(delivery))
            .collect();
        let count = u64::try_from(changed.len()).unwrap_or(u64::MAX);
        for delivery in changed {
            self.write(delivery);
        }
        count
    }

    pub(super) fn is_over(&self, event: &StoredEvent, request: &PurgeRequest) -> bool {
        let is_over = |delivery: &Delivery| {
            delivery.started_at < request.before
                && !delivery.state.is_live()
                && (request.failed || !delivery.state.is_failed())
        };
        event.created_at < request.before && self.of_event(&event.id).all(is_over)
    }

    pub(super) fn of_event(&self, event: &EventId) -> impl Iterator<Item = &Delivery> {
        let first = DeliveryId {
            event: event.clone(),
            endpoint: EndpointId::first(),
        };
        self.deliveries
            .range(first..)
            .take_while(move |(id, _)| id.event == *event)
            .map(|(_, delivery)| delivery)
    }

    pub(super) fn purge(&mut self, event: &EventId) {
        let deliveries: Vec<DeliveryId> = self.of_event(event).map(|delivery| delivery.id.clone()).collect();
        for id in deliveries {
            self.deliveries.remove(&id);
            self.attempts.remove(&id);
        }
        self.expunged.remove(event);
        if let Some(event) = self.events.remove(event) {
            self.by_creation.remove(&place(&event));
        }
    }

    pub(super) fn expunge(&mut self, id: &EventId) {
        if let Some(event) = self.events.get_mut(id) {
            event.body = Bytes::new();
            self.expunged.insert(id.clone());
        }
    }

    /// Matching deliveries in ascending order of their ids.
    pub(super) fn matching(&self, filter: &DeliveryFilter) -> impl Iterator<Item = &Delivery> {
        self.deliveries.values().filter(|delivery| {
            let event = self.events.get(&delivery.id.event);
            event.is_some_and(|event| filter.matches(delivery, event))
        })
    }

    /// The next events created in the period, up to the limit.
    fn next_events(&self, request: &MissingRequest) -> Vec<&StoredEvent> {
        let after = request.after.as_ref().map_or(Unbounded, Excluded);
        let places = self.by_creation.range((after, Unbounded));
        let places = places.filter(|place| request.created.contains(place.created_at));
        places
            .take(request.limit)
            .filter_map(|place| self.events.get(&place.id))
            .collect()
    }

    pub(super) fn replay_missing(&mut self, endpoint: &Endpoint, request: &MissingRequest) -> Missing {
        let events = self.next_events(request);
        let next = events.last().map(|event| place(event));
        let missing: Vec<Delivery> = events
            .iter()
            .filter(|event| !self.expunged.contains(&event.id))
            .filter_map(|event| {
                endpoint.delivery_of(&event.id, &event.event_type, &event.audience, request.now)
            })
            .filter(|delivery| !self.deliveries.contains_key(&delivery.id))
            .collect();
        let count = u64::try_from(missing.len()).unwrap_or(u64::MAX);
        if !request.dry_run {
            for delivery in missing {
                self.write(delivery);
            }
        }
        Missing { count, next }
    }

    pub(super) fn settle(&mut self, settlement: Settlement) -> Receipt {
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

pub(super) fn place(event: &StoredEvent) -> EventPlace {
    EventPlace {
        created_at: event.created_at,
        id: event.id.clone(),
    }
}
