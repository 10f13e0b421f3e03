//! Who acts: dispatchers that are run, stopped and restarted, producers that repeat themselves, an operator at work.
//!
//! Each is a process that may crash anywhere and begins anew; what it does is safe to repeat.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use super::{
    Stores,
    network::{DEADLINE, STRAGGLING, SimulatedTransport},
    scenario::Scenario,
    scheduler::LONGEST_RESTART,
    sites::{Site, Sites},
    stores::{SimulatedEndpoints, SimulatedOutbox},
    world::{Actor, ActorClock, SKEW, World},
};
use crate::{
    event::Envelope,
    ports::StoreError,
    sender::{
        DeliveryFilter, Dispatcher, EndpointState, EndpointStore, Enqueued, Outbox, ReplayRequest, Rotation,
    },
    testing::SeededEntropy,
};

/// How long old secrets go on signing.
const OVERLAP: Duration = Duration::from_hours(1);

/// How long a message that was signed without the new secret may still be on its way.
const LAST_OLD_MESSAGE: Duration =
    Duration::from_secs(DEADLINE.as_secs() + STRAGGLING.as_secs() + 2 * SKEW.as_secs());

/// What every actor of a run works on.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) world: Arc<World>,
    pub(super) stores: Stores,
    pub(super) sites: Arc<Sites>,
    pub(super) scenario: Arc<Scenario>,
}

impl Stage {
    /// Delivers until everybody stops, with a planned restart in between.
    pub(super) async fn dispatch(self, index: usize) {
        let (world, actor) = (&self.world, Actor::Dispatcher(index));
        let restarts_at = world.wall(actor) + world.state().choices.time(Duration::from_mins(10));
        let mut restarts_at = Some(restarts_at);
        while !world.state().stopping {
            world.state().monitor.starts(actor);
            let wait = async |due_at: Option<_>| {
                let wake_at = due_at.into_iter().chain(restarts_at).min();
                let goes_on = world.wait(actor, wake_at).await;
                let restarts = restarts_at.is_some_and(|restarts_at| restarts_at <= world.wall(actor));
                if goes_on && !restarts {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let pause = match self.dispatcher(actor).run(wait, |_| ()).await {
                Ok(()) => {
                    restarts_at = None;
                    world.check(|state| state.monitor.drained(actor));
                    let mut state = world.state();
                    state.census.drains += 1;
                    state.tell(|| format!("{actor}: has stopped"));
                    state.choices.time(LONGEST_RESTART)
                }
                Err(_) => Duration::from_secs(1),
            };
            world.sleep(pause).await;
        }
    }

    /// Sends one event, again and again until it is told that it is stored, and once more for good measure.
    pub(super) async fn produce(self, index: usize, after: Duration) {
        let (world, actor) = (&self.world, Actor::Producer(index));
        world.sleep(after.saturating_sub(world.now())).await;
        let event = envelope(index);
        let dispatcher = self.dispatcher(actor);
        let mut told = 0;
        while told < 2 {
            match dispatcher.send(event.clone()).await {
                Ok(Enqueued::Enqueued | Enqueued::Duplicate) => {
                    told += 1;
                    let mut state = world.state();
                    let everybody = self.sites.0.iter().map(|site| site.endpoint.clone()).collect();
                    state.ledger.accepted.insert(event.id().clone(), everybody);
                    if state.choices.happens(700) {
                        return;
                    }
                }
                Ok(Enqueued::Conflict) | Err(_) => world.sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// Changes the secret of an endpoint: first the sender's, then, within the overlap, the receiver's.
    pub(super) async fn rotate(self, site: Arc<Site>, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let endpoints = self.endpoints(Actor::Operator);
        let next = site.signer(1);
        self.insist(async || {
            let (next, now) = (next.clone(), world.wall(Actor::Operator));
            let rotation = Rotation {
                next,
                now,
                overlap: OVERLAP,
            };
            endpoints.rotate(&site.endpoint, &rotation).await
        })
        .await;
        let spare = OVERLAP - LAST_OLD_MESSAGE * 2 - Duration::from_mins(10);
        let pause = LAST_OLD_MESSAGE + world.state().choices.time(spare);
        world.sleep(pause).await;
        site.trust_only(1);
        world.state().census.rotations += 1;
    }

    /// Pauses an endpoint for some minutes.
    pub(super) async fn pause(self, site: Arc<Site>, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let endpoints = self.endpoints(Actor::Operator);
        for state in [EndpointState::Paused, EndpointState::Enabled] {
            self.insist(|| endpoints.set_state(&site.endpoint, state)).await;
            let pause = world.state().choices.time(Duration::from_mins(3));
            world.sleep(pause).await;
        }
    }

    /// Sends again what failed, after a look at how much that is.
    pub(super) async fn replay(self, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let outbox = self.outbox(Actor::Operator);
        for dry_run in [true, false] {
            self.insist(async || {
                let (filter, now) = (DeliveryFilter::failed(), world.wall(Actor::Operator));
                outbox.replay(&ReplayRequest { filter, now, dry_run }).await
            })
            .await;
        }
    }

    /// Sets the clock of a dispatcher anew.
    pub(super) async fn jump(self, index: usize, after: Duration) {
        self.world.sleep(after.saturating_sub(self.world.now())).await;
        self.world.jump(Actor::Dispatcher(index));
    }

    async fn insist<T>(&self, verb: impl AsyncFn() -> Result<T, StoreError>) {
        while verb().await.is_err() {
            self.world.sleep(Duration::from_secs(1)).await;
        }
    }

    fn outbox(&self, actor: Actor) -> SimulatedOutbox {
        SimulatedOutbox {
            inner: self.stores.outbox.clone(),
            world: self.world.clone(),
            actor,
        }
    }

    fn endpoints(&self, actor: Actor) -> SimulatedEndpoints {
        SimulatedEndpoints {
            inner: self.stores.endpoints.clone(),
            world: self.world.clone(),
            actor,
        }
    }

    fn dispatcher(&self, actor: Actor) -> Dispatcher {
        let transport = SimulatedTransport {
            world: self.world.clone(),
            actor,
            sites: self.sites.clone(),
        };
        let seed = self.world.state().choices.number();
        Dispatcher::new(
            Arc::new(self.outbox(actor)),
            Arc::new(self.endpoints(actor)),
            Arc::new(transport),
            ActorClock(self.world.clone(), actor),
            SeededEntropy::new(seed),
        )
        .with_policy(self.scenario.policy.clone())
        .with_deadline(DEADLINE)
        .with_concurrency(self.scenario.concurrency)
        .with_concurrency_per_endpoint(self.scenario.concurrency_per_endpoint)
    }
}

#[expect(clippy::expect_used, reason = "the event is well-formed")]
fn envelope(index: usize) -> Envelope {
    let id = format!("evt_{index}").parse().expect("an id");
    let (event_type, version) = (
        "charge.created".parse().expect("a type"),
        "1".parse().expect("a version"),
    );
    let created = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    Envelope::new(id, event_type, version, created, br#"{"id":"ch_1"}"#).expect("an event")
}
