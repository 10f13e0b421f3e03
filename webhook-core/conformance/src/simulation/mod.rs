//! Simulation of the delivery engine with a seeded scheduler: thousands of runs with crashes, lost
//! responses and wrong clocks, in seconds.
//!
//! [`simulate`] makes the run of one seed. Dispatchers, producers, receivers and an operator work
//! on shared stores, as tasks of one thread. Virtual time jumps to the next event, and the seed
//! determines every choice, so a run repeats exactly. The dispatcher, the receivers and the
//! signatures are the real code. A host can pass its own stores:
//!
//! ```
//! use webhook_core_conformance::simulation::{Stores, simulate};
//!
//! let census = simulate(7, Stores::in_memory).map_err(|violation| violation.to_string())?;
//! assert!(census.acknowledged > 0);
//! # Ok::<_, String>(())
//! ```
//!
//! # Faults
//!
//! In the first 30 minutes of virtual time:
//!
//! - Processes crash at each [`CrashPoint`] and restart. Dispatchers are stopped and restarted.
//! - Store calls fail, after the write or without it. Some dispatchers are disconnected from the
//!   stores for a minute. The endpoint store alone is unreachable for up to a minute.
//! - Store calls never return, and the store connections of a dispatcher freeze for up to a minute.
//! - Responses are lost, and messages arrive after their sender gave up.
//! - Receivers respond with 4xx, 410, 5xx, 429 and 503 with `Retry-After`, or never; up to ten
//!   hang. Some transports ignore their deadline. The `Date` of one receiver is wrong by ten
//!   minutes.
//! - Clocks jump within 5 seconds of the true time. Some are wrong by up to 4 minutes, an hour or a
//!   day for a while, even while their process restarts.
//! - Some dispatchers crash again and again, and some deliveries crash their dispatcher.
//! - The operator rotates secrets, pauses endpoints, replays failed deliveries and purges old
//!   events. An endpoint is registered later and gets earlier events.
//!
//! Then all faults stop, and the run continues until no delivery is due.
//!
//! During the run and at its end a monitor checks each [`Invariant`] with its own records. A run
//! that violates one is repeated with a trace, which the [`Violation`] contains.
//!
//! # Limits
//!
//! - A store call is one step: a crash is before or after it. The store's own tests must check
//!   crashes within a call. While a call waits for another thread, virtual time stops; with such
//!   stores a seed may not repeat exactly.
//! - Writes that the store itself loses, and receivers that report false results, are not
//!   simulated.
//! - In an outbox without instances, leases outlive the deadline of their exchange by 30 seconds.
//!   If a clock is wrong by more, leases of healthy dispatchers are taken over, which costs
//!   repeated attempts and is not a violation.
//! - A healthy endpoint gets an event within 12 seconds after it was stored or replayed: 2 seconds,
//!   plus the difference of the clocks. Each fault of the run adds 77 seconds, which include a
//!   stall of up to a minute. If a clock was wrong by minutes or more, there is no bound.

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
mod tenants;
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

/// Empty stores of one run.
#[derive(Clone)]
pub struct Stores {
    /// Outbox of the sender.
    pub outbox: Arc<dyn Outbox>,
    /// The same store as [`Retention`].
    pub retention: Arc<dyn Retention>,
    /// Endpoint store of the sender.
    pub endpoints: Arc<dyn EndpointStore>,
    /// Inbox of all receivers.
    pub inbox: Arc<dyn Inbox>,
}

impl Stores {
    /// Creates in-memory stores.
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

/// Makes the run of a seed, on empty stores that `stores` creates.
///
/// # Errors
///
/// The first violated invariant, with the trace of a second run.
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
        Some(violation::Broken(invariant, details)) => Err(Box::new(Violation {
            seed,
            invariant,
            details,
            trace: state.trace.take().unwrap_or_default(),
        })),
    }
}

type Playing = LocalBoxFuture<'static, ()>;

impl Stage {
    /// Adds a process that restarts after each crash.
    fn add(&self, scheduler: &mut Scheduler, actor: Actor, part: impl Fn(Self) -> Playing + 'static) {
        let stage = self.clone();
        scheduler.add(actor, move || part(stage.clone()));
    }

    /// Adds all actors.
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

    /// Adds the faults that the scenario schedules for a certain time. Each occurs once and is not
    /// restarted.
    fn cast_trouble(&self, scheduler: &mut Scheduler) {
        let mut begin = |trouble: Playing| scheduler.push(Actor::Operator, None, trouble);
        for (index, after) in self.scenario.jumps.iter().copied() {
            begin(Box::pin(self.clone().jump(index, after)));
        }
        for (index, after) in self.scenario.steps.iter().copied() {
            begin(Box::pin(self.clone().step(index, after)));
        }
        for (index, after) in self.scenario.leaps.iter().copied() {
            begin(Box::pin(self.clone().leap(index, after)));
        }
        for (index, after) in self.scenario.freezes.iter().copied() {
            begin(Box::pin(self.clone().freeze(index, after)));
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
