//! Scenario of a seed: number and behaviour of actors, and times of events.

use std::time::Duration;

use super::{choices::Choices, sites::Temper, world::Weather};
use webhook_core::sender::{DeliveryPolicy, Schedule};

/// Duration of the faults. Afterwards there are none, and the run continues without a time limit.
pub(super) const CHAOS: Duration = Duration::from_secs(1_800);

/// Age at which events may be purged; producers retry for less time.
pub(super) const OLD: Duration = Duration::from_secs(600);

/// Time within which the producers of a run begin.
const BUSY: Duration = Duration::from_secs(40);

pub(super) struct Scenario {
    pub(super) dispatchers: usize,
    pub(super) tempers: Vec<Temper>,
    /// Start of each producer.
    pub(super) events: Vec<Duration>,
    pub(super) weather: Weather,
    pub(super) policy: DeliveryPolicy,
    pub(super) concurrency: usize,
    pub(super) concurrency_per_endpoint: usize,
    /// Rotations of endpoints' secrets.
    pub(super) rotations: Vec<(usize, Duration)>,
    /// Pauses of unhealthy endpoints.
    pub(super) pauses: Vec<(usize, Duration)>,
    pub(super) replays: Vec<Duration>,
    /// Times at which the latecomer gets earlier events, possibly twice at the same time.
    pub(super) catch_ups: Vec<Duration>,
    /// Time of the purge.
    pub(super) purge: Option<Duration>,
    /// Small jumps of dispatchers' clocks.
    pub(super) jumps: Vec<(usize, Duration)>,
    /// Times at which a clock becomes wrong by minutes.
    pub(super) steps: Vec<(usize, Duration)>,
    /// Times at which a clock becomes wrong by an hour or a day.
    pub(super) leaps: Vec<(usize, Duration)>,
    /// Times at which the store connections of a dispatcher freeze.
    pub(super) freezes: Vec<(usize, Duration)>,
    /// `true` if the dispatchers hold deliveries while a wrong clock explains refusals.
    pub(super) holds_for_skew: bool,
    /// Times at which a dispatcher is disconnected from the stores.
    pub(super) partitions: Vec<(usize, Duration)>,
    /// Outages of the endpoint store.
    pub(super) outages: Vec<Duration>,
    /// Times at which a dispatcher begins to crash again and again.
    pub(super) deaths: Vec<(usize, Duration)>,
    /// The producer whose first event crashes its dispatchers.
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
        // with one place, dispatchers poll a full endpoint every 250 ms, which is most of a run's
        // steps
        let concurrency_per_endpoint = choices.one_of([1, 4, 4, 4], 4);
        let apart = choices.apart();
        let (catch_ups, outages) = (catch_ups(&apart), outages(&apart));
        let hung = hung(&apart);
        let unwell = 2 + usize::from(!catch_ups.is_empty()) + hung;
        let rare = |permille| {
            (0..dispatchers)
                .filter(|_| apart.happens(permille))
                .map(|index| (index, apart.time(BUSY)))
                .collect::<Vec<_>>()
        };
        Self {
            dispatchers,
            events,
            weather: Weather {
                crashes: choices.one_of([0, 15, 40, 80], 0),
                errors: choices.one_of([0, 0, 15, 40], 0),
                stalls: choices.one_of([0, 0, 0, 60], 0),
                hangs: apart.one_of([0, 0, 0, 0, 10], 0),
            },
            policy: policy(choices),
            // endpoints that have not responded may use half of the places
            concurrency: (concurrency_per_endpoint * unwell + 1) * 2,
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
            leaps: rare(30),
            freezes: rare(60),
            holds_for_skew: apart.happens(500),
            partitions: often(150, dispatchers, BUSY),
            outages,
            deaths: often(80, dispatchers, BUSY),
            poison: choices.happens(100).then(|| choices.index(tempers.len())),
            tempers: tempers
                .into_iter()
                .chain(vec![Temper::Hung; hung])
                .chain(latecomer(&catch_ups))
                .collect(),
            catch_ups,
        }
    }
}

/// Behaviour of the latecomer: not healthy, because its earlier events do not arrive in time.
fn latecomer(catch_ups: &[Duration]) -> Option<Temper> {
    catch_ups.first().map(|_| Temper::Flaky)
}

/// Number of further endpoints that hang.
fn hung(choices: &Choices) -> usize {
    if choices.happens(100) {
        choices.index(8) + 1
    } else {
        0
    }
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

/// One healthy endpoint and one or two unhealthy ones; at most one of them hangs.
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
