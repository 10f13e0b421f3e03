//! Temporary faults other than crashes: stalled processes and unreachable stores.

use std::{future::pending, time::Duration};

use super::{
    census::CrashPoint,
    world::{Actor, LONGEST_STALL, World},
};
use webhook_core::ports::StoreError;

impl World {
    /// Stalls the process, in some runs, for longer than its leases last.
    pub(super) async fn stall_perhaps(&self, actor: Actor) {
        let stall = {
            let mut state = self.state();
            let stall = state.choices.happens(state.weather.stalls);
            let stall = stall.then(|| state.choices.time(LONGEST_STALL));
            if let Some(stall) = stall {
                state.census.stalls += 1;
                state.monitor.excuse(actor);
                state.tell(|| format!("{actor}: stalls for {stall:?}"));
            }
            stall
        };
        if let Some(stall) = stall {
            self.sleep(stall).await;
        }
    }

    /// Suspends this store call for ever, in some runs. Its caller must give it up.
    pub(super) async fn hang_perhaps(&self, actor: Actor, point: CrashPoint) {
        let hangs = {
            let mut state = self.state();
            // the operator, which calls the stores directly, has no deadlines
            let may_hang = matches!(actor, Actor::Dispatcher(_) | Actor::Producer(_));
            let hangs = may_hang && state.choices.happens(state.weather.hangs);
            if hangs {
                state.census.hangs += 1;
                state.monitor.excuse(actor);
                state.tell(|| format!("{actor}: a store call hangs at {point:?}"));
            }
            hangs
        };
        if hangs {
            pending::<()>().await;
        }
    }

    /// Freezes the connections of a dispatcher to the stores: no call returns for a while, and
    /// those that have begun never do.
    pub(super) fn freeze(&self, actor: Actor, time: Duration) {
        let mut state = self.state();
        let end = state.now() + time;
        state.frozen.insert(actor, end);
        state.census.hangs += 1;
        state.monitor.excuse(actor);
        state.tell(|| format!("{actor}: its store connections are frozen for {time:?}"));
    }

    /// Disconnects a dispatcher from the stores for a while.
    pub(super) fn cut_off(&self, actor: Actor, time: Duration) {
        let mut state = self.state();
        let end = state.now() + time;
        state.cut_off.insert(actor, end);
        state.census.partitions += 1;
        state.tell(|| format!("{actor}: is disconnected from the stores for {time:?}"));
    }

    /// Makes the endpoint store unreachable for a while.
    pub(super) fn lose_endpoints(&self, time: Duration) {
        let mut state = self.state();
        state.outage = state.outage.max(state.now() + time);
        state.census.outages += 1;
        state.tell(|| format!("the endpoint store is unreachable for {time:?}"));
    }

    /// Accesses the endpoint store; fails during an outage. An outage does not excuse a lost lease,
    /// because the lease can still be settled.
    pub(super) async fn reach_endpoints(&self, actor: Actor) -> Result<(), StoreError> {
        self.reach(actor).await?;
        let state = self.state();
        if state.outage > state.now() {
            return Err(StoreError::unavailable("an outage of the endpoints"));
        }
        Ok(())
    }

    /// Crashes a process again and again for a while.
    pub(super) fn dies(&self, actor: Actor, time: Duration) {
        let mut state = self.state();
        let end = state.now() + time;
        state.dying.insert(actor, end);
        state.tell(|| format!("{actor}: crashes repeatedly for {time:?}"));
    }

    /// Accesses a store. Fails while the actor is disconnected, and never returns while its
    /// connections are frozen.
    pub(super) async fn reach(&self, actor: Actor) -> Result<(), StoreError> {
        self.dawdle().await;
        let is_frozen = {
            let mut state = self.state();
            let is_frozen = state.frozen.get(&actor).is_some_and(|end| *end > state.now());
            if is_frozen {
                state.monitor.excuse(actor);
            }
            is_frozen
        };
        if is_frozen {
            pending::<()>().await;
        }
        let mut state = self.state();
        if state.cut_off.get(&actor).is_some_and(|end| *end > state.now()) {
            state.monitor.excuse(actor);
            return Err(StoreError::unavailable("cut off"));
        }
        Ok(())
    }
}
