//! Outbox as one actor sees it.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use crate::simulation::{
    census::CrashPoint,
    world::{Actor, World},
};
use webhook_core::{
    ports::StoreError,
    sender::{
        Attempt, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, Enqueue, Enqueued, Heartbeat,
        InstanceId, LeaseRequest, Leased, Leases, Missing, MissingRequest, Outbox, Page, Receipt,
        ReplayRequest, Replayed, SetAside, Settled, Settlement, Turn, TurnRequest,
    },
};

pub(in super::super) struct SimulatedOutbox {
    pub(in super::super) inner: Arc<dyn Outbox>,
    pub(in super::super) world: Arc<World>,
    pub(in super::super) actor: Actor,
}

#[async_trait]
impl Outbox for SimulatedOutbox {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        let (world, event) = (&self.world, enqueue.event.id.clone());
        world.pass(self.actor, CrashPoint::BeforeEventCommit).await?;
        // recorded before the call, because a dispatcher may lease the deliveries before it returns
        let addressed = enqueue.deliveries.iter().map(|delivery| delivery.id.clone());
        world.state().ledger.addressed.extend(addressed);
        let enqueued = world.verb(self.inner.enqueue(enqueue)).await?;
        {
            let mut state = world.state();
            let now = state.now();
            state.ledger.stored_at.entry(event.clone()).or_insert(now);
            state.tell(|| format!("{}: stores {event}: {enqueued:?}", self.actor));
        }
        world.wake_dispatchers();
        world.pass(self.actor, CrashPoint::AfterEventCommit).await?;
        Ok(enqueued)
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        let world = &self.world;
        // most calls lease nothing; if each could crash, most crashes would be here
        let looks_only = world.state().choices.happens(950);
        if looks_only {
            world.reach(self.actor).await?;
        } else {
            world.pass(self.actor, CrashPoint::BeforeClaim).await?;
        }
        let leases = world.verb(self.inner.lease(request)).await?;
        if leases.leased.is_empty() && leases.set_aside.is_empty() {
            return Ok(leases);
        }
        let mut swept = self.note_set_aside(&leases.set_aside);
        for Leased { delivery, .. } in &leases.leased {
            world.tell(|| format!("{}: leases {} as {}", self.actor, delivery.id, delivery.fence));
            world.check(|state| {
                state.ledger.was_asked_for(&delivery.id)?;
                let taken_over = state.monitor.leased(self.actor, request, delivery)?;
                state.leased_at = state.now();
                state.census.leases += 1;
                state.census.takeovers += u64::from(taken_over);
                swept |= taken_over;
                Ok(())
            });
        }
        let point = if swept {
            CrashPoint::InLeaseSweep
        } else {
            CrashPoint::AfterClaim
        };
        world.pass(self.actor, point).await?;
        Ok(leases)
    }

    async fn turn(&self, request: TurnRequest) -> Result<Turn, StoreError> {
        let mut call = Call {
            outbox: self,
            has_returned: false,
        };
        let mut turn = Turn::default();
        if !request.settlements.is_empty() {
            turn.receipts = self.settle(request.settlements).await?;
        }
        if let Some(lease) = request.lease {
            turn.leases = self.lease(&lease).await?;
            if turn.leases.leased.len() < lease.limit {
                turn.next_due = self.next_due().await?;
            }
        }
        call.has_returned = true;
        Ok(turn)
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        let world = &self.world;
        let (before, after) = if settlements.len() > 1 {
            (CrashPoint::InGroupCommit, CrashPoint::InGroupCommit)
        } else {
            (CrashPoint::BeforeRecord, CrashPoint::AfterRecord)
        };
        world.stall_perhaps(self.actor).await;
        world.pass(self.actor, before).await?;
        let receipts = world.verb(self.inner.settle(settlements.clone())).await?;
        for (settlement, receipt) in settlements.iter().zip(&receipts) {
            self.note(settlement, receipt.settled);
        }
        world.pass(self.actor, after).await?;
        Ok(receipts)
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        self.world.reach(self.actor).await?;
        let joined = self.world.verb(self.inner.join()).await?;
        self.world.tell(|| format!("{}: joins as {joined:?}", self.actor));
        // a crash here leaves an instance that no process knows
        self.world.pass(self.actor, CrashPoint::InJoin).await?;
        Ok(joined)
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        self.world.reach(self.actor).await?;
        self.world.verb(self.inner.beat(instance)).await
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        self.world.pass(self.actor, CrashPoint::InLeave).await?;
        let freed = self
            .world
            .verb(self.inner.leave(instance, departure, now))
            .await?;
        self.world.tell(|| {
            format!(
                "{}: removes {instance} ({departure:?}): {freed} leases",
                self.actor
            )
        });
        if freed > 0 {
            self.world.wake_dispatchers();
        }
        self.world.pass(self.actor, CrashPoint::InLeave).await?;
        Ok(freed)
    }

    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.world.reach(self.actor).await?;
        self.world.verb(self.inner.pull_forward(now)).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        self.world.reach(self.actor).await?;
        self.world.verb(self.inner.next_due()).await
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        self.world.verb(self.inner.list(filter, page)).await
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        self.world.verb(self.inner.attempts(delivery)).await
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        let world = &self.world;
        world.pass(self.actor, CrashPoint::InReplay).await?;
        if !request.dry_run {
            // recorded before the call: after a crash it is unknown if the replay happened
            world.state().monitor.replay_begins();
        }
        let replayed = world.verb(self.inner.replay(request)).await?;
        if !request.dry_run {
            let mut state = world.state();
            state.census.replays += replayed.count;
            state.tell(|| format!("{}: replays {}", self.actor, replayed.count));
        }
        world.wake_dispatchers();
        world.pass(self.actor, CrashPoint::InReplay).await?;
        Ok(replayed)
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        let world = &self.world;
        world.pass(self.actor, CrashPoint::InCatchUp).await?;
        if !request.dry_run {
            world.state().ledger.catches_up = true;
        }
        let missing = world.verb(self.inner.replay_missing(endpoint, request)).await?;
        if !request.dry_run {
            let mut state = world.state();
            state.census.missing += missing.count;
            state.tell(|| {
                format!(
                    "{}: creates missing deliveries of {}: {missing:?}",
                    self.actor, endpoint.id
                )
            });
        }
        world.wake_dispatchers();
        world.pass(self.actor, CrashPoint::InCatchUp).await?;
        Ok(missing)
    }
}

/// Call that may have given leases. If its caller drops it at a deadline, the caller does not know
/// these leases, so it may lose them.
struct Call<'o> {
    outbox: &'o SimulatedOutbox,
    has_returned: bool,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.has_returned {
            self.outbox.world.state().monitor.excuse(self.outbox.actor);
        }
    }
}

impl SimulatedOutbox {
    /// Reports quarantined deliveries; returns `true` if there were any.
    fn note_set_aside(&self, set_aside: &[SetAside]) -> bool {
        for SetAside { delivery, reason } in set_aside {
            self.world
                .tell(|| format!("{}: quarantines {delivery}: {reason}", self.actor));
            self.world.check(|state| {
                state.census.set_aside += 1;
                // an outage loses no lease, so it explains no quarantine
                let own = state.census.faults() - state.census.poisonings - state.census.outages;
                state.monitor.set_aside(delivery, own)
            });
        }
        !set_aside.is_empty()
    }

    fn note(&self, settlement: &Settlement, settled: Settled) {
        let Settlement {
            delivery,
            fence,
            disposition,
            ..
        } = settlement;
        self.world.tell(|| {
            format!(
                "{}: settles {delivery} as {fence}: {disposition:?}: {settled:?}",
                self.actor
            )
        });
        self.world.check(|state| {
            state.census.stale += u64::from(settled == Settled::Stale);
            state.census.late += u64::from(settled == Settled::Late);
            state.monitor.settled(self.actor, settlement, settled)
        });
    }
}
