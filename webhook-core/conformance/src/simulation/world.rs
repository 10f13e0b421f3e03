//! State that all actors share: virtual time, choices, the monitor, and crashes.

use std::{
    collections::BTreeMap,
    fmt,
    future::{pending, poll_fn},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use super::{
    census::{Census, CrashPoint},
    choices::Choices,
    ledger::Ledger,
    monitor::Monitor,
    scenario::CHAOS,
    violation::{Broken, Checked},
};
use webhook_core::{
    ports::{Clock, Sleep, StoreError, Timer},
    sender::{BEAT, DeliveryId},
};

/// Maximum difference of a clock from the true time.
pub(super) const SKEW: Duration = Duration::from_secs(5);

/// Maximum temporary error of a clock; receivers still accept its signatures.
pub(super) const STEP: Duration = Duration::from_secs(240);

/// True time, as its difference to the slowest possible clock.
const TRUE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// Time after the end of all faults from which heartbeats are rare.
const CALM: Duration = Duration::from_secs(CHAOS.as_secs() + 120);

/// Interval of heartbeats after the faults: nothing depends on them any more, and each costs steps.
const CALM_BEAT: Duration = Duration::from_secs(600);

/// Probability in permille that a repeatedly crashing process crashes at each point.
const DYING: u64 = 400;

/// Maximum duration of a stall, longer than a lease.
pub(super) const LONGEST_STALL: Duration = Duration::from_secs(60);

/// Actor of a run.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Actor {
    Dispatcher(usize),
    Producer(usize),
    Operator,
    Receiver(usize),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dispatcher(index) => write!(f, "dispatcher {index}"),
            Self::Producer(index) => write!(f, "producer {index}"),
            Self::Operator => f.write_str("operator"),
            Self::Receiver(index) => write!(f, "receiver {index}"),
        }
    }
}

/// Frequency of faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    /// Crashes per 1,000 passes of a crash point.
    pub(super) crashes: u64,
    /// Store errors per 1,000 calls.
    pub(super) errors: u64,
    /// Stalls per 1,000 outcomes, each long enough to lose the lease.
    pub(super) stalls: u64,
    /// Store calls per 1,000 that never return.
    pub(super) hangs: u64,
}

pub(super) struct State {
    pub(super) choices: Choices,
    pub(super) monitor: Monitor,
    pub(super) ledger: Ledger,
    pub(super) census: Census,
    pub(super) broken: Option<Broken>,
    pub(super) trace: Option<Vec<String>>,
    /// Tasks that are not restarted: requests in transit.
    pub(super) spawned: Vec<(Actor, BoxFuture<'static, ()>)>,
    /// `true` if the task that is being polled crashes after this poll.
    pub(super) doomed: bool,
    /// Store calls that have begun and not ended.
    pub(super) verbs: usize,
    pub(super) weather: Weather,
    pub(super) stopping: bool,
    now: Duration,
    timers: BTreeMap<(Duration, u64), Waker>,
    timer_count: u64,
    /// Difference of each dispatcher's clock to the slowest possible clock.
    clocks: BTreeMap<Actor, Duration>,
    /// Times until which dispatchers are disconnected from the stores.
    pub(super) cut_off: BTreeMap<Actor, Duration>,
    /// Times until which no store call of a dispatcher returns.
    pub(super) frozen: BTreeMap<Actor, Duration>,
    /// Time until which the endpoint store is unreachable.
    pub(super) outage: Duration,
    /// Times until which dispatchers crash again and again.
    pub(super) dying: BTreeMap<Actor, Duration>,
    /// Time of the latest lease.
    pub(super) leased_at: Duration,
    /// For each dispatcher: `true` if there is work that it has not looked for yet.
    woken: BTreeMap<Actor, (bool, Option<Waker>)>,
}

/// State of one run, shared by all actors. There is one thread, so the lock is never contended.
pub(super) struct World(Mutex<State>);

impl World {
    pub(super) fn new(choices: Choices, monitor: Monitor, weather: Weather, traced: bool) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            choices,
            monitor,
            ledger: Ledger::default(),
            census: Census::default(),
            broken: None,
            trace: traced.then(Vec::new),
            spawned: Vec::new(),
            doomed: false,
            verbs: 0,
            weather,
            stopping: false,
            now: Duration::ZERO,
            timers: BTreeMap::new(),
            timer_count: 0,
            clocks: BTreeMap::new(),
            cut_off: BTreeMap::new(),
            frozen: BTreeMap::new(),
            outage: Duration::ZERO,
            dying: BTreeMap::new(),
            leased_at: Duration::ZERO,
            woken: BTreeMap::new(),
        })))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Elapsed virtual time.
    pub(super) fn now(&self) -> Duration {
        self.state().now
    }

    /// Time by the clock of `actor`.
    pub(super) fn wall(&self, actor: Actor) -> SystemTime {
        self.state().wall(actor)
    }

    /// Sets the clock of `actor` to at most `within` from the true time.
    pub(super) fn jump(&self, actor: Actor, within: Duration) {
        let mut state = self.state();
        let ahead = TRUE - within + state.choices.time(within * 2);
        state.clocks.insert(actor, ahead);
        state.tell(|| format!("{actor}: clock is set to {ahead:?} ahead of the slowest"));
    }

    /// Sets the clock of `actor` forward or back by an hour or a day.
    pub(super) fn leap(&self, actor: Actor) {
        const HOUR: Duration = Duration::from_secs(3_600);
        let mut state = self.state();
        let by = state.choices.one_of([HOUR, HOUR, HOUR * 24], HOUR);
        let ahead = if state.choices.happens(500) {
            TRUE + by
        } else {
            TRUE - by
        };
        state.clocks.insert(actor, ahead);
        state.tell(|| format!("{actor}: clock leaps to {ahead:?} ahead of the slowest"));
    }

    /// Writes a line of the trace.
    pub(super) fn tell(&self, line: impl FnOnce() -> String) {
        self.state().tell(line);
    }

    /// Records the first violated invariant.
    pub(super) fn check(&self, check: impl FnOnce(&mut State) -> Checked) {
        let mut state = self.state();
        if let Err(broken) = check(&mut state) {
            state.broken.get_or_insert(broken);
        }
    }

    /// Ends after `time`.
    pub(super) async fn sleep(&self, time: Duration) {
        struct Pending<'w>(&'w World, Option<(Duration, u64)>);
        impl Drop for Pending<'_> {
            fn drop(&mut self) {
                if let Some(timer) = self.1.take() {
                    self.0.state().timers.remove(&timer);
                }
            }
        }
        let end = self.now() + time;
        let mut pending = Pending(self, None);
        poll_fn(|context| {
            let mut state = self.state();
            if state.now >= end {
                return Poll::Ready(());
            }
            if pending.1.is_none() {
                pending.1 = Some(state.set_timer(end, context.waker().clone()));
            }
            Poll::Pending
        })
        .await;
    }

    /// Yields to other tasks, sometimes.
    pub(super) async fn dawdle(&self) {
        let pause = {
            let state = self.state();
            state
                .choices
                .happens(200)
                .then(|| state.choices.time(Duration::from_millis(60)))
        };
        if let Some(pause) = pause {
            self.sleep(pause).await;
        }
    }

    /// Point at which a process may crash, and a store may fail or be unreachable.
    pub(super) async fn pass(&self, actor: Actor, point: CrashPoint) -> Result<(), StoreError> {
        self.reach(actor).await?;
        self.hang_perhaps(actor, point).await;
        self.end_perhaps(actor, point).await;
        let mut state = self.state();
        if state.choices.happens(state.weather.errors) {
            state.census.store_errors += 1;
            state.monitor.excuse(actor);
            state.tell(|| format!("{actor}: store fails at {point:?}"));
            return Err(StoreError::unavailable("simulated"));
        }
        Ok(())
    }

    /// Point at which a process may crash.
    pub(super) async fn end_perhaps(&self, actor: Actor, point: CrashPoint) {
        let ends = {
            let mut state = self.state();
            let ends = state.choices.happens(state.likelihood_of_death(actor));
            if ends {
                state.crash(actor, point);
            }
            ends
        };
        if ends {
            // the scheduler drops the whole task before any other step
            pending::<()>().await;
        }
    }

    /// Crashes the process that sends `delivery`.
    pub(super) async fn poison(&self, actor: Actor, delivery: &DeliveryId) {
        self.check(|state| {
            state.census.poisonings += 1;
            state.crash(actor, CrashPoint::AfterSend);
            state.monitor.poisoned(delivery)
        });
        pending::<()>().await;
    }

    /// Runs one store call. While a call waits for another thread, virtual time stops.
    pub(super) async fn verb<T>(&self, verb: impl Future<Output = T>) -> T {
        struct UnderWay<'w>(&'w World);
        impl Drop for UnderWay<'_> {
            fn drop(&mut self) {
                self.0.state().verbs -= 1;
            }
        }
        self.state().verbs += 1;
        let _under_way = UnderWay(self);
        verb.await
    }

    /// Wakes all dispatchers.
    pub(super) fn wake_dispatchers(&self) {
        for (woken, waker) in self.state().woken.values_mut() {
            *woken = true;
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        }
    }

    /// Ends when `actor` was woken or its clock shows `due_at`; `false` if the run stops.
    pub(super) async fn wait(&self, actor: Actor, due_at: Option<SystemTime>) -> bool {
        poll_fn(|context| {
            let mut state = self.state();
            if state.stopping {
                return Poll::Ready(false);
            }
            let wait = due_at.map(|due_at| due_at.duration_since(state.wall(actor)).unwrap_or_default());
            let woken = state.woken.entry(actor).or_default();
            if std::mem::take(&mut woken.0) || wait.is_some_and(|wait| wait.is_zero()) {
                return Poll::Ready(true);
            }
            woken.1 = Some(context.waker().clone());
            if let Some(wait) = wait {
                let end = state.now + wait;
                state.set_timer(end, context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

impl State {
    pub(super) fn now(&self) -> Duration {
        self.now
    }

    /// Returns `true` if all faults have ended, and no lease was made for a while.
    fn is_calm(&self) -> bool {
        self.now > CALM.max(self.leased_at + CALM_BEAT * 2)
    }

    pub(super) fn wall(&self, actor: Actor) -> SystemTime {
        let ahead = self.clocks.get(&actor).copied().unwrap_or(TRUE);
        start() + self.now + ahead
    }

    /// Elapsed time at which the operator's clock showed `time`.
    pub(super) fn passed_at(&self, time: SystemTime) -> Duration {
        let ago = self
            .wall(Actor::Operator)
            .duration_since(time)
            .unwrap_or_default();
        self.now.saturating_sub(ago)
    }

    fn likelihood_of_death(&self, actor: Actor) -> u64 {
        let is_dying = self.dying.get(&actor).is_some_and(|end| *end > self.now);
        if is_dying { DYING } else { self.weather.crashes }
    }

    pub(super) fn tell(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>12.2}s {}", now.as_secs_f64(), line()));
        }
    }

    /// Crashes the task that is being polled.
    pub(super) fn crash(&mut self, actor: Actor, point: CrashPoint) {
        *self.census.crashes.entry(point).or_default() += 1;
        self.monitor.excuse(actor);
        self.doomed = true;
        self.tell(|| format!("{actor}: crashes at {point:?}"));
    }

    /// Advances time to the next timer, if there is one, and wakes its task.
    pub(super) fn pass_time(&mut self) -> bool {
        let Some((&(end, _), _)) = self.timers.first_key_value() else {
            return false;
        };
        self.now = self.now.max(end);
        while let Some(timer) = self
            .timers
            .first_entry()
            .filter(|timer| timer.key().0 <= self.now)
        {
            timer.remove().wake();
        }
        true
    }

    fn set_timer(&mut self, end: Duration, waker: Waker) -> (Duration, u64) {
        self.timer_count += 1;
        self.timers.insert((end, self.timer_count), waker);
        (end, self.timer_count)
    }
}

/// Start of a run, by the slowest possible clock.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// Timer of all actors.
pub(super) struct WorldTimer(pub(super) Arc<World>);

impl Timer for WorldTimer {
    fn sleep(&self, duration: Duration) -> Sleep {
        let world = self.0.clone();
        let is_calm = duration == BEAT && world.state().is_calm();
        let duration = if is_calm { CALM_BEAT } else { duration };
        Box::pin(async move { world.sleep(duration).await })
    }
}

/// Clock of one actor.
pub(super) struct ActorClock(pub(super) Arc<World>, pub(super) Actor);

impl Clock for ActorClock {
    fn now(&self) -> SystemTime {
        self.0.wall(self.1)
    }

    fn monotonic(&self) -> Duration {
        self.0.now()
    }
}
