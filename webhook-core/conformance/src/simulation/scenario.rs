//! What one seed makes of a run: how many of whom, how they behave, when things happen.

use std::time::Duration;

use super::{choices::Choices, sites::Temper, world::Weather};
use webhook_core::sender::{DeliveryPolicy, Schedule};

/// How long things go wrong. After that everybody is well, and has all the time it takes.
pub(super) const CHAOS: Duration = Duration::from_secs(1_800);

/// What is older may be purged: no producer repeats itself for so long.
pub(super) const OLD: Duration = Duration::from_secs(600);

/// When the events of a run come.
const BUSY: Duration = Duration::from_secs(40);

pub(super) struct Scenario {
    pub(super) dispatchers: usize,
    pub(super) tempers: Vec<Temper>,
    /// When each producer begins.
    pub(super) events: Vec<Duration>,
    pub(super) weather: Weather,
    pub(super) policy: DeliveryPolicy,
    pub(super) concurrency: usize,
    pub(super) concurrency_per_endpoint: usize,
    /// When the secret of an endpoint changes.
    pub(super) rotations: Vec<(usize, Duration)>,
    /// When an endpoint that is not well is paused.
    pub(super) pauses: Vec<(usize, Duration)>,
    pub(super) replays: Vec<Duration>,
    /// When an endpoint that comes late, the last of all, is given what it missed: twice perhaps at the same time.
    pub(super) catch_ups: Vec<Duration>,
    /// When old events are purged.
    pub(super) purge: Option<Duration>,
    /// When the clock of a dispatcher jumps a little.
    pub(super) jumps: Vec<(usize, Duration)>,
    /// When it is wrong by minutes, for a while.
    pub(super) steps: Vec<(usize, Duration)>,
    /// When a dispatcher is cut off from the stores.
    pub(super) partitions: Vec<(usize, Duration)>,
    /// When nobody reaches the endpoints, for a while.
    pub(super) outages: Vec<Duration>,
    /// When a dispatcher begins to die again and again.
    pub(super) deaths: Vec<(usize, Duration)>,
    /// Whose first event kills every dispatcher that sends it.
    pub(super) poison: Option<usize>,
}

impl Scenario {
    pub(super) fn new(choices: &Choices) -> Self {
        let dispatchers = if choices.happens(300) { 3 } else { 2 };
        let tempers = tempers(choices);
        let often = |permille, up_to: usize, within| {
            (0..up_to)
                .filter(|_| choices.happens(permille))
                .map(|index| (index, choices.time(within)))
                .collect::<Vec<_>>()
        };
        let events = (0..=choices.index(3) + 1).map(|_| choices.time(BUSY)).collect();
        // with one place, an endpoint is often full: then dispatchers look every 250 ms, which is most of the steps of a run
        let concurrency_per_endpoint = choices.one_of([1, 4, 4, 4], 4);
        let apart = choices.apart();
        let (catch_ups, outages) = (catch_ups(&apart), outages(&apart));
        let unwell = 2 + usize::from(!catch_ups.is_empty());
        Self {
            dispatchers,
            events,
            weather: Weather {
                crashes: choices.one_of([0, 15, 40, 80], 0),
                errors: choices.one_of([0, 0, 15, 40], 0),
                stalls: choices.one_of([0, 0, 0, 60], 0),
            },
            policy: policy(choices),
            // enough for those that may not be well, and one more for who is
            concurrency: concurrency_per_endpoint * unwell + 1,
            concurrency_per_endpoint,
            rotations: often(300, tempers.len(), CHAOS / 2),
            pauses: often(150, tempers.len(), BUSY)
                .into_iter()
                .filter(|(index, _)| *index > 0)
                .collect(),
            replays: often(300, 2, CHAOS).into_iter().map(|(_, after)| after).collect(),
            purge: choices.happens(300).then(|| OLD + choices.time(CHAOS - OLD)),
            jumps: often(500, dispatchers, BUSY),
            steps: often(60, dispatchers, BUSY),
            partitions: often(150, dispatchers, BUSY),
            outages,
            deaths: often(80, dispatchers, BUSY),
            poison: choices.happens(100).then(|| choices.index(tempers.len())),
            tempers: tempers.into_iter().chain(latecomer(&catch_ups)).collect(),
            catch_ups,
        }
    }
}

/// Who comes late may be anything but well: what it missed does not come to it in time.
fn latecomer(catch_ups: &[Duration]) -> Option<Temper> {
    catch_ups.first().map(|_| Temper::Flaky)
}

fn outages(choices: &Choices) -> Vec<Duration> {
    let often = if choices.happens(200) {
        choices.index(2) + 1
    } else {
        0
    };
    (0..often).map(|_| choices.time(BUSY)).collect()
}

fn catch_ups(choices: &Choices) -> Vec<Duration> {
    let often = if choices.happens(300) {
        choices.index(2) + 1
    } else {
        0
    };
    (0..often).map(|_| choices.time(BUSY)).collect()
}

/// One that is well, and one or two that are not; one of them hangs at most.
fn tempers(choices: &Choices) -> Vec<Temper> {
    let other = choices.one_of(
        [Temper::Flaky, Temper::Flaky, Temper::Hung, Temper::Throttling],
        Temper::Flaky,
    );
    let mut tempers = vec![Temper::Healthy, other];
    if choices.happens(400) {
        tempers.push(Temper::Flaky);
    }
    tempers
}

fn policy(choices: &Choices) -> DeliveryPolicy {
    let seconds = Duration::from_secs;
    let quick = Schedule::new([seconds(5), seconds(60)]);
    let schedule = match choices.below(4) {
        0..2 => quick.unwrap_or_default(),
        2 => Schedule::new([seconds(30), seconds(120), seconds(900)]).unwrap_or_default(),
        _ => Schedule::default(),
    };
    let policy = DeliveryPolicy::new(schedule);
    if choices.happens(200) {
        policy.with_lifetime(seconds(120))
    } else {
        policy
    }
}
