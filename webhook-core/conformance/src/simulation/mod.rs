//! The delivery engine under a seeded scheduler: thousands of runs with crashes, lost answers and skewed clocks, in seconds.
//!
//! [`simulate`] makes one run of a seed. Several dispatchers, producers, receivers and an operator work on stores, each a task
//! of one thread; virtual time jumps to the next event, and every choice comes from the seed, so a run repeats exactly. The
//! engine, the receivers and their signatures are the real ones; stores may be a host's own:
//!
//! ```
//! use webhook_core_conformance::simulation::{Stores, simulate};
//!
//! let census = simulate(7, Stores::in_memory).map_err(|violation| violation.to_string())?;
//! assert!(census.acknowledged > 0);
//! # Ok::<_, String>(())
//! ```
//!
//! # What happens
//!
//! For half an hour of virtual time everything goes wrong: processes end at each [`CrashPoint`] and begin anew, stores fail with
//! their write done or not, answers get lost, messages arrive after their sender gave up, receivers answer 4xx, 410, 429 and 503
//! with `Retry-After`, 5xx, or never; clocks jump, within 5 seconds of the true time; dispatchers are stopped and restarted, secrets
//! rotated, endpoints paused, failed deliveries replayed, old events purged; an endpoint comes late and is given what it missed. The endpoints alone
//! are out of reach for up to a minute. Some dispatchers are cut off from the stores for a minute, have a clock
//! that is wrong by up to four, or die again and again for reasons of their own; some deliveries kill whoever sends them. Then everybody is well, and the run goes on until nothing is due.
//!
//! All through and at the end each [`Invariant`] is checked by an account of its own. A run that breaks one is made again with a
//! trace, which the [`Violation`] shows.
//!
//! # Limits
//!
//! - A verb of a store is one step: a crash is before or after it. What happens inside is the business of the store's own tests.
//!   While a verb waits for another thread, virtual time stands still; with such stores a seed may not repeat exactly.
//! - A lost write of the store itself, and receivers that lie are not simulated.
//! - Clocks are at most 10 seconds apart, and leases outlive their exchange by 30. Where a clock is wrong by more, leases are
//!   taken over from who is in good health, which costs repetitions: that is not counted as a mistake then.
//! - A healthy endpoint is served within 12 seconds (2, and the difference of the clocks), and 77 more for each fault of the run,
//!   a stall of a minute included; after a replay, from its time on. Where a clock was wrong by minutes nothing is promised.
//!   One endpoint hangs at most, and dispatchers have more places than the unwell endpoints may take.

mod actors;
mod catch_up;
mod census;
mod choices;
mod ending;
mod ledger;
mod monitor;
mod network;
mod scenario;
mod scheduler;
mod sites;
mod stores;
mod trouble;
mod violation;
mod world;

use std::sync::Arc;

use actors::Stage;
use choices::Choices;
use futures_util::future::LocalBoxFuture;
use monitor::Monitor;
use scenario::Scenario;
use scheduler::Scheduler;
use sites::Sites;
use world::{Actor, SKEW, World};

pub use census::{Census, CrashPoint};
pub use violation::{Invariant, Violation};

use webhook_core::{
    memory::{MemoryEndpoints, MemoryInbox, MemoryOutbox},
    receiver::{Dedupe, Inbox},
    sender::{EndpointStore, Outbox, Retention},
};

/// The stores of one run, empty.
#[derive(Clone)]
pub struct Stores {
    /// Of the sender.
    pub outbox: Arc<dyn Outbox>,
    /// The same store, which lets go of old events.
    pub retention: Arc<dyn Retention>,
    /// Of the sender.
    pub endpoints: Arc<dyn EndpointStore>,
    /// Of all receivers.
    pub inbox: Arc<dyn Inbox>,
}

impl Stores {
    /// The stores in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        let outbox = Arc::new(MemoryOutbox::default());
        Self {
            outbox: outbox.clone(),
            retention: outbox,
            endpoints: Arc::new(MemoryEndpoints::default()),
            inbox: Arc::new(MemoryInbox::default()),
        }
    }
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

/// Makes the run of a seed, on stores that `stores` makes empty for it.
///
/// # Errors
///
/// The first invariant that did not hold, with the trace of a second run.
pub fn simulate(seed: u64, stores: impl Fn() -> Stores) -> Result<Census, Box<Violation>> {
    match run(seed, stores(), false) {
        Ok(census) => Ok(census),
        Err(untraced) => Err(run(seed, stores(), true).err().unwrap_or(untraced)),
    }
}

fn run(seed: u64, stores: Stores, traced: bool) -> Result<Census, Box<Violation>> {
    let choices = Choices::new(seed);
    let scenario = Arc::new(Scenario::new(&choices));
    let monitor = Monitor::new(scenario.policy.schedule().attempts());
    let world = World::new(choices, monitor, scenario.weather, traced);
    let inbox: Arc<dyn Dedupe> = stores.inbox.clone();
    let sites = Sites::new(&world, &inbox, &scenario.tempers);
    let stage = Stage {
        world: world.clone(),
        stores,
        sites,
        scenario,
    };
    let mut scheduler = Scheduler::new(world.clone());
    stage.cast(&mut scheduler);
    scheduler.run();
    let mut state = world.state();
    match state.broken.take() {
        None => Ok(std::mem::take(&mut state.census)),
        Some(violation::Broken(invariant, what)) => Err(Box::new(Violation {
            seed,
            invariant,
            what,
            trace: state.trace.take().unwrap_or_default(),
        })),
    }
}

type Playing = LocalBoxFuture<'static, ()>;

impl Stage {
    /// A process that plays a part, anew after each crash.
    fn add(&self, scheduler: &mut Scheduler, actor: Actor, part: impl Fn(Self) -> Playing + 'static) {
        let stage = self.clone();
        scheduler.add(actor, move || part(stage.clone()));
    }

    /// Brings everybody on.
    fn cast(&self, scheduler: &mut Scheduler) {
        scheduler.push(Actor::Operator, None, Box::pin(self.clone().register()));
        scheduler.run();
        scheduler.push(Actor::Operator, None, Box::pin(self.clone().end()));
        let scenario = &self.scenario;
        for index in 0..scenario.dispatchers {
            self.world.jump(Actor::Dispatcher(index), SKEW);
            self.add(scheduler, Actor::Dispatcher(index), move |stage| {
                Box::pin(stage.dispatch(index))
            });
        }
        for (index, after) in scenario.events.iter().copied().enumerate() {
            self.add(scheduler, Actor::Producer(index), move |stage| {
                Box::pin(stage.produce(index, after))
            });
        }
        for (index, after) in scenario.rotations.iter().copied() {
            if let Some(site) = self.sites.0.get(index).cloned() {
                self.add(scheduler, Actor::Operator, move |stage| {
                    Box::pin(stage.rotate(site.clone(), after))
                });
            }
        }
        for (index, after) in scenario.pauses.iter().copied() {
            if let Some(site) = self.sites.0.get(index).cloned() {
                self.add(scheduler, Actor::Operator, move |stage| {
                    Box::pin(stage.pause(site.clone(), after))
                });
            }
        }
        for after in scenario.replays.iter().copied() {
            self.add(scheduler, Actor::Operator, move |stage| {
                Box::pin(stage.replay(after))
            });
        }
        for after in scenario.catch_ups.iter().copied() {
            self.add(scheduler, Actor::Operator, move |stage| {
                Box::pin(stage.catch_up(after))
            });
        }
        if let Some(after) = scenario.purge {
            self.add(scheduler, Actor::Operator, move |stage| {
                Box::pin(stage.purge(after))
            });
        }
        self.cast_trouble(scheduler);
    }

    /// Brings on what goes wrong at a time of its own. It happens once, whatever else crashes.
    fn cast_trouble(&self, scheduler: &mut Scheduler) {
        let mut begin = |trouble: Playing| scheduler.push(Actor::Operator, None, trouble);
        for (index, after) in self.scenario.jumps.iter().copied() {
            begin(Box::pin(self.clone().jump(index, after)));
        }
        for (index, after) in self.scenario.steps.iter().copied() {
            begin(Box::pin(self.clone().step(index, after)));
        }
        for (index, after) in self.scenario.partitions.iter().copied() {
            begin(Box::pin(self.clone().part(index, after)));
        }
        for after in self.scenario.outages.iter().copied() {
            begin(Box::pin(self.clone().lose_endpoints(after)));
        }
        for (index, after) in self.scenario.deaths.iter().copied() {
            begin(Box::pin(self.clone().die(index, after)));
        }
    }
}
