//! Inbox of one receiver.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use crate::simulation::{
    census::CrashPoint,
    network::{MEMORY, healthy_bound},
    tenants::may_get,
    violation::{Invariant, check},
    world::{Actor, World},
};
use webhook_core::{
    ports::StoreError,
    receiver::{Claim, Dedupe, Incoming},
    sender::{DeliveryId, EndpointId},
};

pub(in super::super) struct SimulatedInbox {
    pub(in super::super) inner: Arc<dyn Dedupe>,
    pub(in super::super) world: Arc<World>,
    pub(in super::super) actor: Actor,
    pub(in super::super) endpoint: EndpointId,
    /// Number of the receiver.
    pub(in super::super) site: usize,
    /// The receiver has no faults and must be served in time.
    pub(in super::super) is_healthy: bool,
}

#[async_trait]
impl Dedupe for SimulatedInbox {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        let world = &self.world;
        let delivery = DeliveryId {
            event: event.key.id.clone(),
            endpoint: self.endpoint.clone(),
        };
        if !self.is_healthy {
            world.pass(self.actor, CrashPoint::BeforeReceipt).await?;
        }
        world.check(|_| {
            check(
                may_get(&delivery.event, self.site),
                Invariant::TenantsAreSeparate,
                || format!("{delivery} arrives at another tenant"),
            )
        });
        let claim = world.verb(self.inner.claim_and_enqueue(event, now)).await?;
        self.note(&delivery, claim);
        if !self.is_healthy {
            world.pass(self.actor, CrashPoint::AfterReceipt).await?;
        }
        Ok(claim)
    }
}

impl SimulatedInbox {
    fn note(&self, delivery: &DeliveryId, claim: Claim) {
        self.world
            .tell(|| format!("{}: claims {delivery}: {claim:?}", self.actor));
        self.world.check(|state| {
            state.census.duplicates += u64::from(claim == Claim::Duplicate);
            if claim != Claim::Enqueued {
                return Ok(());
            }
            let (now, bound) = (state.now(), healthy_bound(state.census.faults()));
            state.ledger.receive(delivery, now, MEMORY)?;
            if self.is_healthy && state.census.clock_steps + state.census.clock_leaps == 0 {
                let since = state.monitor.replayed_at(delivery).map(|at| state.passed_at(at));
                state.ledger.is_prompt(delivery, since, now, bound)?;
            }
            Ok(())
        });
    }
}
