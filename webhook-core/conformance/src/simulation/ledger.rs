//! Ledger of a run: events that were confirmed to producers, and events that receivers have.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::violation::{Checked, Invariant, check};
use webhook_core::{
    event::EventId,
    sender::{DeliveryId, EndpointId},
};

/// Confirmed events and their receipts.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Events whose storing was confirmed.
    pub(super) told: BTreeSet<EventId>,
    /// Endpoints of each confirmed event that is not purged.
    pub(super) accepted: BTreeMap<EventId, BTreeSet<EndpointId>>,
    /// Time at which an event was stored.
    pub(super) stored_at: BTreeMap<EventId, Duration>,
    /// Endpoints that were disabled at any time: their missing events are no loss.
    pub(super) disabled: BTreeSet<EndpointId>,
    /// Deliveries that were stored with their events, or may have been.
    pub(super) addressed: BTreeSet<DeliveryId>,
    /// `true` if an actor requested the missing events of an endpoint.
    pub(super) catches_up: bool,
    /// Times at which a receiver queued an event.
    pub(super) received: BTreeMap<DeliveryId, Vec<Duration>>,
}

impl Ledger {
    /// Checks that a leased delivery was stored with its event, or was requested later.
    pub(super) fn was_asked_for(&self, id: &DeliveryId) -> Checked {
        let asked = self.catches_up || self.addressed.contains(id);
        check(asked, Invariant::NoUnrequestedDeliveries, || {
            format!("{id} is leased without a request")
        })
    }

    /// Records that a receiver has queued an event.
    pub(super) fn receive(&mut self, id: &DeliveryId, now: Duration, memory: Duration) -> Checked {
        let times = self.received.entry(id.clone()).or_default();
        let again = times.last().is_some_and(|last| now < *last + memory);
        times.push(now);
        check(!again, Invariant::ProcessedOnce, || {
            format!("the receiver queues {id} twice")
        })
    }

    /// Checks that a healthy endpoint got an event in time.
    ///
    /// The time counts from `since`, the latest replay, or from the storing of the event if there
    /// was no replay.
    pub(super) fn is_prompt(
        &self,
        id: &DeliveryId,
        since: Option<Duration>,
        now: Duration,
        bound: Duration,
    ) -> Checked {
        let first = self.received.get(id).is_some_and(|times| times.len() == 1);
        let since = since.or_else(|| self.stored_at.get(&id.event).copied());
        let waited = since.map(|since| now.saturating_sub(since));
        let late = waited.filter(|waited| first && *waited > bound);
        check(late.is_none(), Invariant::HealthyIsServed, || {
            format!("{id} arrived after {late:?}, later than the bound {bound:?}")
        })
    }
}
