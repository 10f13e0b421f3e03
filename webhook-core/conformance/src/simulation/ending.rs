//! End of a run: all faults stop, all work completes, and the results are checked.

use std::{collections::BTreeMap, time::Duration};

use super::{
    actors::Stage,
    scenario::CHAOS,
    violation::{Broken, Invariant, check},
    world::{Actor, Weather},
};
use webhook_core::{
    ports::StoreError,
    sender::{Delivery, DeliveryFilter, DeliveryId, DeliveryState, EndpointState, Page},
};

/// Limit of a list, greater than the number of deliveries of a run.
const MOST: usize = 1_000;

pub(super) const ALL: Page = Page {
    after: None,
    limit: MOST,
};

/// Interval of the checks for completion.
const LOOK: Duration = Duration::from_secs(600);

impl Stage {
    /// Registers all endpoints except the latecomer, at the start.
    pub(super) async fn register(self) {
        let late = self.latecomer().map(|site| site.endpoint.clone());
        for site in self
            .sites
            .0
            .iter()
            .filter(|site| Some(&site.endpoint) != late.as_ref())
        {
            let registered = self.stores.endpoints.insert(site.registration());
            if let Err(error) = self.world.verb(registered).await {
                self.fail(&error);
            }
        }
    }

    /// Ends the run.
    pub(super) async fn end(self) {
        self.world.sleep(CHAOS).await;
        if let Err(error) = self.heal_and_count().await {
            self.fail(&error);
        }
        self.world.state().stopping = true;
        self.world.wake_dispatchers();
    }

    fn fail(&self, error: &StoreError) {
        let what = format!("the store fails without a simulated fault: {error:?}");
        self.world.check(|_| Err(Broken(Invariant::EverythingEnds, what)));
    }

    async fn heal_and_count(&self) -> Result<(), StoreError> {
        let world = &self.world;
        world.state().weather = Weather {
            crashes: 0,
            errors: 0,
            stalls: 0,
            hangs: 0,
        };
        world.tell(|| "all faults end".to_owned());
        for site in &self.sites.0 {
            site.heal();
            let enabled = EndpointState::Enabled;
            world
                .verb(self.stores.endpoints.set_state(&site.endpoint, enabled))
                .await?;
        }
        world.wake_dispatchers();
        while world.state().ledger.told.len() < self.scenario.events.len() {
            world.sleep(LOOK).await;
        }
        // after the last event, so that every accepted event has all its deliveries
        self.give_what_was_missed(false).await?;
        while !self.is_at_rest().await? {
            world.sleep(LOOK).await;
        }
        let rows = world
            .verb(self.stores.outbox.list(&DeliveryFilter::default(), &ALL))
            .await?;
        self.check_logs(&rows).await?;
        let queued = self.queued().await?;
        self.check_rows(&rows, &queued);
        self.check_accepted(&rows);
        Ok(())
    }

    async fn is_at_rest(&self) -> Result<bool, StoreError> {
        Ok(self.world.verb(self.stores.outbox.next_due()).await?.is_none())
    }

    /// Number of times each event is in the queues of the receivers.
    async fn queued(&self) -> Result<BTreeMap<DeliveryId, usize>, StoreError> {
        let now = self.world.wall(Actor::Operator);
        let lease = Duration::from_secs(60);
        let taken = self.world.verb(self.stores.inbox.take(MOST, now, lease)).await?;
        let mut queued = BTreeMap::new();
        for key in taken.into_iter().map(|taken| taken.ticket.key) {
            let site = self.sites.0.iter().find(|site| site.source() == key.source);
            let Some(endpoint) = site.map(|site| site.endpoint.clone()) else {
                continue;
            };
            *queued
                .entry(DeliveryId {
                    event: key.id,
                    endpoint,
                })
                .or_default() += 1;
        }
        Ok(queued)
    }

    async fn check_logs(&self, rows: &[Delivery]) -> Result<(), StoreError> {
        for row in rows {
            let log = self.world.verb(self.stores.outbox.attempts(&row.id)).await?;
            self.world.check(|state| {
                let (kept, settled) = (log.len(), state.monitor.logged(&row.id));
                check(kept >= settled, Invariant::NothingIsLost, || {
                    format!(
                        "{} has {kept} rows in its log of {settled} attempts that were settled",
                        row.id
                    )
                })
            });
        }
        Ok(())
    }

    fn check_rows(&self, rows: &[Delivery], queued: &BTreeMap<DeliveryId, usize>) {
        self.world.check(|state| {
            for row in rows {
                let count = queued.get(&row.id).copied().unwrap_or_default();
                let claims = state.ledger.received.get(&row.id).map_or(0, Vec::len);
                check(!row.state.is_live(), Invariant::EverythingEnds, || {
                    format!("{row:?} at the end")
                })?;
                check(count <= claims.max(1), Invariant::ProcessedOnce, || {
                    format!("{} is queued {count} times", row.id)
                })?;
                let acknowledged = row.state == DeliveryState::Acked;
                state.census.acknowledged += u64::from(acknowledged);
                check(!acknowledged || count > 0, Invariant::NothingIsLost, || {
                    format!("{} is acknowledged and not in the queue of its receiver", row.id)
                })?;
                check(
                    acknowledged || row.reason.is_some(),
                    Invariant::NothingIsLost,
                    || format!("{} failed without a reason", row.id),
                )?;
            }
            Ok(())
        });
    }

    fn check_accepted(&self, rows: &[Delivery]) {
        self.world.check(|state| {
            for (event, endpoints) in &state.ledger.accepted {
                for endpoint in endpoints.difference(&state.ledger.disabled) {
                    let row = rows
                        .iter()
                        .find(|row| row.id.event == *event && row.id.endpoint == *endpoint);
                    check(row.is_some(), Invariant::NothingIsLost, || {
                        format!("{event} was accepted and is missing for {endpoint}")
                    })?;
                }
            }
            Ok(())
        });
    }
}
