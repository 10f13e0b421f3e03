//! What a run owes: the events that producers were told are stored, and where receivers have them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::violation::{Checked, Invariant, check};
use webhook_core::{
    event::EventId,
    sender::{DeliveryId, EndpointId},
};

/// What producers were told, and what receivers have.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The events whose storing was confirmed.
    pub(super) told: BTreeSet<EventId>,
    /// For each of them that is not purged: who must get it.
    pub(super) accepted: BTreeMap<EventId, BTreeSet<EndpointId>>,
    /// When an event was stored.
    pub(super) stored_at: BTreeMap<EventId, Duration>,
    /// Endpoints that were disabled at any time: what they missed is no loss.
    pub(super) disabled: BTreeSet<EndpointId>,
    /// The deliveries that events were stored with, or may have been.
    pub(super) addressed: BTreeSet<DeliveryId>,
    /// Whether anybody has asked for what an endpoint missed.
    pub(super) catches_up: bool,
    /// When a receiver queued an event.
    pub(super) received: BTreeMap<DeliveryId, Vec<Duration>>,
}

impl Ledger {
    /// Whether a delivery that is leased was stored with its event, or asked for since.
    pub(super) fn was_asked_for(&self, id: &DeliveryId) -> Checked {
        let asked = self.catches_up || self.addressed.contains(id);
        check(asked, Invariant::NothingIsUnasked, || {
            format!("{id} is leased, which nobody asked for")
        })
    }

    /// A receiver has queued an event.
    pub(super) fn receive(&mut self, id: &DeliveryId, now: Duration, memory: Duration) -> Checked {
        let times = self.received.entry(id.clone()).or_default();
        let again = times.last().is_some_and(|last| now < *last + memory);
        times.push(now);
        check(!again, Invariant::ProcessedOnce, || {
            format!("the receiver queues {id} again")
        })
    }

    /// Whether a healthy endpoint got an event in time.
    ///
    /// In time is what counts from its storing, or from `since`, when it was replayed.
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
            format!("{id} came after {late:?}, which is more than {bound:?}")
        })
    }
}
