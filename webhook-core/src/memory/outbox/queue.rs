//! Live deliveries of one endpoint.

use std::{
    collections::{BTreeSet, VecDeque},
    time::SystemTime,
};

use crate::sender::{DeliveryId, DeliveryState, Lane, LeaseRequest};

/// Live deliveries to one endpoint, ordered by the time at which they are due.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) lane: Lane,
    pub(super) last_turn: u64,
    pub(super) waiting: BTreeSet<(SystemTime, DeliveryId)>,
    pub(super) leased: BTreeSet<(SystemTime, DeliveryId)>,
}

impl Queue {
    pub(super) fn index_of(
        &mut self,
        state: DeliveryState,
    ) -> Option<&mut BTreeSet<(SystemTime, DeliveryId)>> {
        match state {
            DeliveryState::Leased => Some(&mut self.leased),
            state if state.is_live() => Some(&mut self.waiting),
            _ => None,
        }
    }

    pub(super) fn is_held(&self, now: SystemTime) -> bool {
        self.lane.held_until.is_some_and(|until| until > now)
    }

    /// Deliveries that may be leased: those that become suspects, or all others.
    pub(super) fn due(
        &self,
        request: &LeaseRequest,
        suspects: bool,
        becomes_suspect: impl Fn(&DeliveryId) -> bool,
    ) -> VecDeque<DeliveryId> {
        if self.is_held(request.now) {
            return VecDeque::new();
        }
        let in_flight = self
            .leased
            .iter()
            .rev()
            .take_while(|(end, _)| *end > request.now)
            .count();
        let room = request.limit_of(&self.lane).saturating_sub(in_flight);
        let is_due = |(due_at, _): &&(SystemTime, DeliveryId)| *due_at <= request.now;
        // only leased deliveries become suspects, so the waiting ones are not scanned
        let waiting = self
            .waiting
            .iter()
            .take_while(is_due)
            .take(if suspects { 0 } else { room });
        let leased = self.leased.iter().take_while(is_due);
        let leased = leased
            .filter(|(_, id)| becomes_suspect(id) == suspects)
            .take(room);
        let mut due: Vec<_> = waiting.chain(leased).collect();
        due.sort_unstable();
        due.into_iter().take(room).map(|(_, id)| id.clone()).collect()
    }

    pub(super) fn next_due(&self) -> Option<SystemTime> {
        let first = |index: &BTreeSet<(SystemTime, DeliveryId)>| index.first().map(|(due_at, _)| *due_at);
        let due_at = first(&self.waiting)
            .into_iter()
            .chain(first(&self.leased))
            .min()?;
        Some(self.lane.held_until.map_or(due_at, |until| until.max(due_at)))
    }
}
