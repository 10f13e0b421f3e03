//! Endpoint that is registered later and gets earlier events.

use std::{sync::Arc, time::Duration};

use super::{actors::Stage, sites::Site, world::Actor};
use webhook_core::{
    ports::StoreError,
    sender::{EndpointStore, MissingRequest, Outbox, Period},
};

impl Stage {
    /// The endpoint that is registered later.
    pub(super) fn latecomer(&self) -> Option<&Arc<Site>> {
        self.sites
            .0
            .last()
            .filter(|_| !self.scenario.catch_ups.is_empty())
    }

    /// Registers the latecomer, counts its missing deliveries, and creates them a while later.
    pub(super) async fn catch_up(self, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        for dry_run in [true, false] {
            self.insist(|| self.give_what_was_missed(dry_run)).await;
            let pause = world.state().choices.time(Duration::from_secs(20));
            world.sleep(pause).await;
        }
    }

    /// Creates the missing deliveries in small pages, so that there are many.
    pub(super) async fn give_what_was_missed(&self, dry_run: bool) -> Result<(), StoreError> {
        let (world, outbox) = (&self.world, self.outbox(Actor::Operator));
        let Some(site) = self.latecomer() else {
            return Ok(());
        };
        world
            .verb(self.stores.endpoints.insert(site.registration()))
            .await?;
        let mut after = None;
        loop {
            let Some(endpoint) = self.endpoints(Actor::Operator).load(&site.endpoint).await? else {
                return Ok(());
            };
            let limit = 1 + world.state().choices.index(3);
            let request = MissingRequest {
                created: Period::default(),
                after,
                limit,
                now: world.wall(Actor::Operator),
                dry_run,
            };
            after = outbox.replay_missing(&endpoint, &request).await?.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
