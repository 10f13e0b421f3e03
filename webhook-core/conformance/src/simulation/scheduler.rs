//! Scheduler: one thread that polls one task at a time, in an order that the seed determines.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use futures_util::future::LocalBoxFuture;

use super::{
    census::CrashPoint,
    violation::{Broken, Invariant},
    world::{Actor, World},
};

/// Maximum number of polls. A run that takes more polls, or longer than `LONGEST`, counts as
/// endless.
const MOST_STEPS: u64 = 200_000;
const LONGEST: Duration = Duration::from_secs(60 * 86_400);

/// Probability in permille that a task crashes at an await point during faults.
const CRASHES_WHILE_WAITING: u64 = 2;

/// Maximum time until a crashed process restarts.
pub(super) const LONGEST_RESTART: Duration = Duration::from_secs(5);

pub(super) type Process = Rc<dyn Fn() -> LocalBoxFuture<'static, ()>>;

/// Tasks of a run.
pub(super) struct Scheduler {
    world: Arc<World>,
    tasks: Vec<Task>,
}

struct Task {
    actor: Actor,
    /// Restarts the task after a crash.
    process: Option<Process>,
    future: LocalBoxFuture<'static, ()>,
    ready: Arc<Ready>,
    waker: Waker,
}

struct Ready(AtomicBool, Thread);

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
        // the thread sleeps only while a store waits for another thread
        self.1.unpark();
    }
}

impl Scheduler {
    pub(super) fn new(world: Arc<World>) -> Self {
        Self {
            world,
            tasks: Vec::new(),
        }
    }

    /// Adds a process that restarts after each crash.
    pub(super) fn add(&mut self, actor: Actor, process: impl Fn() -> LocalBoxFuture<'static, ()> + 'static) {
        let future = process();
        self.push(actor, Some(Rc::new(process)), future);
    }

    /// Runs until every task has ended, or an invariant is violated.
    pub(super) fn run(&mut self) {
        let mut steps = 0;
        while !self.tasks.is_empty() && self.world.state().broken.is_none() {
            steps += 1;
            self.step();
            self.adopt();
            if steps > MOST_STEPS || self.world.now() > LONGEST {
                let what = format!(
                    "the run did not end after {steps} steps and {:?}",
                    self.world.now()
                );
                let endless = Broken(Invariant::EverythingEnds, what);
                self.world.state().broken.get_or_insert(endless);
            }
        }
        self.world.state().census.steps += steps;
    }

    fn step(&mut self) {
        let ready = |tasks: &[Task]| tasks.iter().filter(|task| task.is_ready()).count();
        let chosen = match ready(&self.tasks) {
            0 => return self.idle(),
            1 => 0,
            count => self.world.state().choices.index(count),
        };
        let mut ready = (0..).zip(&self.tasks).filter(|(_, task)| task.is_ready());
        if let Some((index, _)) = ready.nth(chosen) {
            self.poll(index);
        }
    }

    fn poll(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        task.ready.0.store(false, Ordering::Release);
        let polled = task.future.as_mut().poll(&mut Context::from_waker(&task.waker));
        let mut state = self.world.state();
        let restarts = task.process.is_some();
        // neither the ending nor the healthy receiver crashes
        let may_crash = restarts || matches!(task.actor, Actor::Receiver(1..));
        if polled.is_pending() && may_crash && !state.doomed && state.weather.crashes > 0 {
            let ends = state.choices.happens(CRASHES_WHILE_WAITING);
            if ends {
                state.crash(task.actor, CrashPoint::AnyAwait);
            }
        }
        let doomed = std::mem::take(&mut state.doomed);
        if doomed {
            // only after the poll: other futures of the same task were still running
            state.monitor.crashed(task.actor);
        }
        let pause = if doomed {
            state.choices.time(LONGEST_RESTART)
        } else {
            Duration::ZERO
        };
        drop(state);
        if polled == Poll::Ready(()) || (doomed && !restarts) {
            drop(self.tasks.swap_remove(index));
        } else if doomed {
            task.restart(&self.world, pause);
        }
    }

    /// Advances time if no task is ready.
    fn idle(&mut self) {
        let mut state = self.world.state();
        if state.verbs > 0 {
            drop(state);
            // a wake-up before this call is not lost: `park` then returns at once
            thread::park();
        } else if !state.pass_time() {
            let what = "deadlock: all tasks wait, and no timer is set".to_owned();
            state
                .broken
                .get_or_insert(Broken(Invariant::EverythingEnds, what));
        }
    }

    fn adopt(&mut self) {
        let spawned = std::mem::take(&mut self.world.state().spawned);
        for (actor, future) in spawned {
            self.push(actor, None, future);
        }
    }

    /// Adds a task that is not restarted.
    pub(super) fn push(
        &mut self,
        actor: Actor,
        process: Option<Process>,
        future: LocalBoxFuture<'static, ()>,
    ) {
        let ready = Arc::new(Ready(AtomicBool::new(true), thread::current()));
        let waker = Waker::from(ready.clone());
        self.tasks.push(Task {
            actor,
            process,
            future,
            ready,
            waker,
        });
    }
}

impl Task {
    fn is_ready(&self) -> bool {
        self.ready.0.load(Ordering::Acquire)
    }

    fn restart(&mut self, world: &Arc<World>, pause: Duration) {
        let (Some(process), world) = (self.process.clone(), world.clone()) else {
            return;
        };
        self.future = Box::pin(async move {
            world.sleep(pause).await;
            process().await;
        });
        self.ready.0.store(true, Ordering::Release);
    }
}
