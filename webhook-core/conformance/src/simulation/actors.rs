//! Actors of a run: dispatchers, producers and an operator.
//!
//! Each actor is a process that may crash at any point and restarts. All its work is safe to
//! repeat.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use super::{
    Stores,
    census::CrashPoint,
    ending::ALL,
    network::{DEADLINE, STRAGGLING, SimulatedTransport},
    scenario::{OLD, Scenario},
    scheduler::LONGEST_RESTART,
    sites::{Site, Sites},
    stores::{SimulatedEndpoints, SimulatedOutbox},
    tenants::{audience, owner},
    world::{Actor, ActorClock, LONGEST_STALL, SKEW, STEP, World, WorldTimer},
};
use host_ports::testing::SeededEntropy;
use webhook_core::{
    event::{Envelope, EventId},
    ports::StoreError,
    sender::{
        DeliveryFilter, DeliveryId, Dispatcher, EndpointState, EndpointStore, Enqueued, Outbox, PurgeRequest,
        ReplayRequest, Rotation, StoredEvent,
    },
};

/// Overlap of a rotation.
const OVERLAP: Duration = Duration::from_secs(3_600);

/// Maximum time after a rotation at which a message without the new signature may arrive.
const LAST_OLD_MESSAGE: Duration =
    Duration::from_secs(DEADLINE.as_secs() + STRAGGLING.as_secs() + 2 * SKEW.as_secs());

/// Shared parts of a run.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) world: Arc<World>,
    pub(super) stores: Stores,
    pub(super) sites: Arc<Sites>,
    pub(super) scenario: Arc<Scenario>,
}

impl Stage {
    /// Dispatches until the run stops, with a planned restart in between.
    pub(super) async fn dispatch(self, index: usize) {
        let (world, actor) = (&self.world, Actor::Dispatcher(index));
        let restarts_at = world.wall(actor) + world.state().choices.time(Duration::from_secs(600));
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
            self.dispatcher(actor).run(wait, drop).await;
            restarts_at = None;
            world.check(|state| state.monitor.drained(actor));
            let pause = {
                let mut state = world.state();
                state.census.drains += 1;
                state.tell(|| format!("{actor}: has stopped"));
                state.choices.time(LONGEST_RESTART)
            };
            world.sleep(pause).await;
        }
    }

    /// Sends one event, with retries until it is confirmed, and once more after that.
    pub(super) async fn produce(self, index: usize, after: Duration) {
        let (world, actor) = (&self.world, Actor::Producer(index));
        world.sleep(after.saturating_sub(world.now())).await;
        let event = StoredEvent::new(envelope(index), audience(index));
        let dispatcher = self.dispatcher(actor);
        let mut told = 0;
        while told < 2 {
            match dispatcher.send(event.clone()).await {
                Ok(Enqueued::Enqueued | Enqueued::Duplicate) => {
                    told += 1;
                    let mut state = world.state();
                    let sites = self.sites.0.iter();
                    let subscribers = sites.filter(|site| event.audience.includes(&owner(site.index)));
                    let subscribers = subscribers.map(|site| site.endpoint.clone()).collect();
                    if state.ledger.told.insert(event.id.clone()) {
                        state.ledger.accepted.insert(event.id.clone(), subscribers);
                    }
                    if state.choices.happens(700) {
                        return;
                    }
                }
                Ok(Enqueued::Conflict) | Err(_) => world.sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// Rotates the secret of an endpoint: first at the sender, then, within the overlap, at the
    /// receiver.
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
        let spare = OVERLAP - LAST_OLD_MESSAGE * 2 - Duration::from_secs(600);
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
            let pause = world.state().choices.time(Duration::from_secs(180));
            world.sleep(pause).await;
        }
    }

    /// Replays failed deliveries, after a dry run.
    pub(super) async fn replay(self, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let outbox = self.outbox(Actor::Operator);
        for dry_run in [true, false] {
            self.insist(async || {
                let (filter, now) = (DeliveryFilter::failed(), world.wall(Actor::Operator));
                outbox
                    .replay(&ReplayRequest {
                        filter,
                        acknowledged: false,
                        after: None,
                        limit: usize::MAX,
                        now,
                        dry_run,
                    })
                    .await
            })
            .await;
        }
    }

    /// Purges old events and records which were deleted.
    pub(super) async fn purge(self, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        self.insist(async || {
            world.pass(Actor::Operator, CrashPoint::InPurge).await?;
            let request = PurgeRequest {
                before: world.wall(Actor::Operator) - OLD,
                failed: world.state().choices.happens(500),
                limit: ALL.limit,
            };
            let purged = world.verb(self.stores.retention.purge(&request)).await?;
            let all = DeliveryFilter::default();
            let kept = world.verb(self.stores.outbox.list(&all, &ALL)).await?;
            world.check(|state| {
                state.census.purged += purged;
                let accepted = &mut state.ledger.accepted;
                let gone = |event: &&EventId| kept.iter().all(|row| row.id.event != **event);
                let events: Vec<EventId> = accepted.keys().filter(gone).cloned().collect();
                accepted.retain(|event, _| !events.contains(event));
                events.iter().try_for_each(|event| state.monitor.purged(event))
            });
            world.pass(Actor::Operator, CrashPoint::InPurge).await
        })
        .await;
    }

    /// Moves the clock of a dispatcher within the skew.
    pub(super) async fn jump(self, index: usize, after: Duration) {
        self.world.sleep(after.saturating_sub(self.world.now())).await;
        self.world.jump(Actor::Dispatcher(index), SKEW);
    }

    /// Makes the clock of a dispatcher wrong by minutes, for a while.
    pub(super) async fn step(self, index: usize, after: Duration) {
        let (world, actor) = (&self.world, Actor::Dispatcher(index));
        world.sleep(after.saturating_sub(world.now())).await;
        {
            let mut state = world.state();
            state.census.clock_steps += 1;
            state.monitor.clocks_part();
        }
        world.jump(actor, STEP);
        let pause = world.state().choices.time(Duration::from_secs(120));
        world.sleep(pause).await;
        world.jump(actor, SKEW);
    }

    /// Makes the clock of a dispatcher wrong by an hour or a day, for a while.
    pub(super) async fn leap(self, index: usize, after: Duration) {
        let (world, actor) = (&self.world, Actor::Dispatcher(index));
        world.sleep(after.saturating_sub(world.now())).await;
        {
            let mut state = world.state();
            state.census.clock_leaps += 1;
            state.monitor.clocks_part();
        }
        world.leap(actor);
        let pause = world.state().choices.time(Duration::from_secs(120));
        world.sleep(pause).await;
        world.jump(actor, SKEW);
    }

    /// Freezes the store connections of a dispatcher for a while.
    pub(super) async fn freeze(self, index: usize, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let time = world.state().choices.time(LONGEST_STALL);
        world.freeze(Actor::Dispatcher(index), time);
    }

    /// Disconnects a dispatcher from the stores for a while.
    pub(super) async fn part(self, index: usize, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let time = world.state().choices.time(LONGEST_STALL);
        world.cut_off(Actor::Dispatcher(index), time);
    }

    /// Makes the endpoint store unreachable for all actors for a while.
    pub(super) async fn lose_endpoints(self, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let time = world.state().choices.time(LONGEST_STALL);
        world.lose_endpoints(time);
    }

    /// Crashes a dispatcher again and again for some minutes.
    pub(super) async fn die(self, index: usize, after: Duration) {
        let world = &self.world;
        world.sleep(after.saturating_sub(world.now())).await;
        let time = world.state().choices.time(Duration::from_secs(600));
        world.dies(Actor::Dispatcher(index), time);
    }

    pub(super) async fn insist<T>(&self, verb: impl AsyncFn() -> Result<T, StoreError>) {
        while verb().await.is_err() {
            self.world.sleep(Duration::from_secs(1)).await;
        }
    }

    /// The delivery that crashes its dispatchers.
    fn poison(&self) -> Option<DeliveryId> {
        let site = self.sites.0.get(self.scenario.poison?)?;
        Some(DeliveryId {
            event: envelope(0).id().clone(),
            endpoint: site.endpoint.clone(),
        })
    }

    pub(super) fn outbox(&self, actor: Actor) -> SimulatedOutbox {
        SimulatedOutbox {
            inner: self.stores.outbox.clone(),
            world: self.world.clone(),
            actor,
        }
    }

    pub(super) fn endpoints(&self, actor: Actor) -> SimulatedEndpoints {
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
            poison: self.poison(),
        };
        let seed = self.world.state().choices.number();
        let dispatcher = Dispatcher::new(
            self.outbox(actor),
            self.endpoints(actor),
            transport,
            ActorClock(self.world.clone(), actor),
            WorldTimer(self.world.clone()),
            SeededEntropy::new(seed),
        )
        .with_policy(self.scenario.policy.clone())
        .with_deadline(DEADLINE)
        .with_concurrency(self.scenario.concurrency)
        .with_concurrency_per_endpoint(self.scenario.concurrency_per_endpoint);
        if self.scenario.holds_for_skew {
            dispatcher.with_skew_hold()
        } else {
            dispatcher
        }
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
