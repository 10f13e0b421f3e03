//! The dispatcher as an instance of its outbox: joining, heartbeats, and leaving.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::Duration,
};

use super::{Dispatcher, Limits};
use crate::{
    ports::StoreError,
    sender::{BEAT, DeliveryEvent, Departure, Heartbeat, InstanceId, Liveness, SILENCE},
};

/// Maximum number of errors that wait for the delivery loop.
const MOST_ERRORS: usize = 16;

/// Instances of one call of `run`, shared by its delivery loop and its heartbeat.
#[derive(Default)]
pub(super) struct Membership(Mutex<State>);

#[derive(Default)]
struct State {
    tenure: Tenure,
    /// Number of unsettled leases of each instance of this dispatcher, retired instances included.
    leases: BTreeMap<InstanceId, usize>,
    liveness: Liveness,
    /// Monotonic time of the last heartbeat of `tenure` that the store confirmed.
    beaten_at: Duration,
    errors: Vec<StoreError>,
    /// Monotonic time of the last try to leave as a retired instance.
    left_at: Option<Duration>,
    /// `true` if leases were freed since the delivery loop last looked for work.
    has_freed: bool,
    waker: Option<Waker>,
}

/// Owner of the next leases.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Tenure {
    /// None yet: the dispatcher must join first.
    #[default]
    Outside,
    /// None: the outbox has no instances, so leases end by time.
    ByTime,
    /// This instance.
    Instance(InstanceId),
}

impl Membership {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Owner of the next leases, after joining if necessary.
    pub(super) async fn owner(&self, dispatcher: &Dispatcher) -> Result<Option<InstanceId>, StoreError> {
        let tenure = self.state().tenure;
        match tenure {
            Tenure::ByTime => return Ok(None),
            Tenure::Instance(instance) if self.is_alive(dispatcher) => return Ok(Some(instance)),
            // after a stall, other instances may be about to declare this one dead
            Tenure::Instance(instance) => self.beat(dispatcher, instance).await?,
            Tenure::Outside => {}
        }
        let tenure = self.state().tenure;
        if let Tenure::Instance(instance) = tenure {
            return Ok(Some(instance));
        }
        let joined = dispatcher.within(Limits::VERB, dispatcher.outbox.join()).await?;
        self.state().tenure = match joined {
            None => Tenure::ByTime,
            Some(instance) => Tenure::Instance(instance),
        };
        if let Some(instance) = joined {
            self.state().leases.insert(instance, 0);
            self.beat(dispatcher, instance).await?;
        }
        Ok(joined)
    }

    /// Returns `true` if the last heartbeat is so recent that no instance can declare this one
    /// dead.
    fn is_alive(&self, dispatcher: &Dispatcher) -> bool {
        let now = dispatcher.clock.monotonic();
        now.saturating_sub(self.state().beaten_at) <= SILENCE / 2
    }

    /// Retires this owner, because it may hold leases that this process does not know or cannot
    /// settle: it gets no further leases. It leaves when its known leases are settled, which frees
    /// the others.
    pub(super) fn retire(&self, owner: Option<InstanceId>) {
        let mut state = self.state();
        if owner.is_some_and(|owner| state.tenure == Tenure::Instance(owner)) {
            state.tenure = Tenure::Outside;
        }
    }

    /// Counts one more lease of an owner.
    pub(super) fn hold(&self, owner: Option<InstanceId>) {
        self.change(owner, |count| count.saturating_add(1));
    }

    /// Counts the end of a lease.
    pub(super) fn settle(&self, owner: Option<InstanceId>) {
        self.change(owner, |count| count.saturating_sub(1));
    }

    fn change(&self, owner: Option<InstanceId>, change: impl FnOnce(usize) -> usize) {
        let mut state = self.state();
        if let Some(count) = owner.and_then(|owner| state.leases.get_mut(&owner)) {
            *count = change(*count);
        }
    }

    /// Lets retired instances without unsettled leases leave.
    pub(super) async fn leave_retired(&self, dispatcher: &Dispatcher) {
        let retired = {
            let mut state = self.state();
            let now = dispatcher.clock.monotonic();
            // a departure may wait for a lock, and must not slow each turn down
            if state.left_at.is_some_and(|at| now.saturating_sub(at) < BEAT) {
                return;
            }
            let current = state.tenure;
            let idle = state.leases.iter().filter(|(_, count)| **count == 0);
            let retired = idle.filter(|(instance, _)| current != Tenure::Instance(**instance));
            let retired = retired.map(|(instance, _)| *instance).collect::<Vec<_>>();
            if !retired.is_empty() {
                state.left_at = Some(now);
            }
            retired
        };
        for instance in retired {
            self.leave(dispatcher, instance, Limits::BEAT).await;
        }
    }

    /// Lets all instances leave, at the end of `run`. Unsettled leases are freed.
    pub(super) async fn leave_all(&self, dispatcher: &Dispatcher) {
        self.state().tenure = Tenure::Outside;
        let instances: Vec<InstanceId> = self.state().leases.keys().copied().collect();
        for instance in instances {
            self.leave(dispatcher, instance, Limits::VERB).await;
        }
    }

    async fn leave(&self, dispatcher: &Dispatcher, instance: InstanceId, limit: Duration) {
        let now = dispatcher.clock.now();
        let left = dispatcher.outbox.leave(instance, Departure::Stopped, now);
        match dispatcher.within(limit, left).await {
            Ok(freed) => {
                self.state().leases.remove(&instance);
                if freed > 0 {
                    self.wake();
                }
            }
            // tried again with the next heartbeat; if this process ends, another instance removes
            // this one
            Err(error) => self.report(error),
        }
    }

    /// Sends heartbeats for ever, concurrently with the delivery loop.
    pub(super) async fn beat_forever(&self, dispatcher: &Dispatcher) {
        loop {
            dispatcher.timer.sleep(BEAT).await;
            let instances: Vec<InstanceId> = self.state().leases.keys().copied().collect();
            for instance in instances {
                if let Err(error) = self.beat(dispatcher, instance).await {
                    self.report(error);
                }
            }
            // here too, because the delivery loop may have nothing to do for hours
            self.leave_retired(dispatcher).await;
        }
    }

    /// Sends one heartbeat, and frees the leases of instances that were silent for too long.
    async fn beat(&self, dispatcher: &Dispatcher, instance: InstanceId) -> Result<(), StoreError> {
        let begun = dispatcher.clock.monotonic();
        let beats = dispatcher.outbox.beat(instance);
        let beats = dispatcher.within(Limits::BEAT, beats).await?;
        {
            let mut state = self.state();
            // the heartbeat of a retired instance does not keep the current instance alive
            if state.tenure == Tenure::Instance(instance) {
                state.beaten_at = begun;
            }
        }
        let dead = self.observe(instance, &beats, dispatcher.clock.monotonic());
        for Heartbeat { instance, counter } in dead {
            let (departure, now) = (Departure::Silent { counter }, dispatcher.clock.now());
            let freed = dispatcher.outbox.leave(instance, departure, now);
            // a longer wait would delay this instance's own heartbeat; the next heartbeat tries
            // again
            let leases = dispatcher.within(Limits::BEAT, freed).await?;
            dispatcher.record(&DeliveryEvent::Freed { instance, leases });
            self.wake();
        }
        Ok(())
    }

    /// Observes the heartbeats of all instances; returns the dead ones.
    fn observe(&self, beating: InstanceId, beats: &[Heartbeat], now: Duration) -> Vec<Heartbeat> {
        let mut state = self.state();
        if beats.iter().all(|beat| beat.instance != beating) {
            // the sender of this heartbeat was declared dead, and its leases are already free
            state.leases.remove(&beating);
            if state.tenure == Tenure::Instance(beating) {
                state.tenure = Tenure::Outside;
            }
        }
        let others = beats
            .iter()
            .filter(|beat| !state.leases.contains_key(&beat.instance));
        let others: Vec<Heartbeat> = others.copied().collect();
        state.liveness.observe(&others, now)
    }

    /// Keeps an error for the delivery loop to report; at most 16, because the loop may sleep for
    /// hours.
    fn report(&self, error: StoreError) {
        let mut state = self.state();
        if state.errors.len() < MOST_ERRORS {
            state.errors.push(error);
        }
    }

    fn wake(&self) {
        let mut state = self.state();
        state.has_freed = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Waits until leases are freed; returns at once if some were freed since the last call.
    /// Cancel-safe.
    pub(super) async fn freed(&self) {
        poll_fn(|context| {
            let mut state = self.state();
            if mem::take(&mut state.has_freed) {
                return Poll::Ready(());
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Errors of the heartbeat since the last call.
    pub(super) fn take_errors(&self) -> Vec<StoreError> {
        mem::take(&mut self.state().errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W29: `retire` changes nothing if the given instance is not the current one.
    #[test]
    fn only_the_current_instance_retires() {
        let membership = Membership::default();
        let [old, current] = [1, 2].map(InstanceId::new);
        membership.state().tenure = Tenure::Instance(current);
        for other in [None, Some(old)] {
            membership.retire(other);
            assert_eq!(membership.state().tenure, Tenure::Instance(current));
        }
        membership.retire(Some(current));
        assert_eq!(membership.state().tenure, Tenure::Outside);
    }
}
