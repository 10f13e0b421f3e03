//! What is under way: leases taken, and exchanges in the air.

use std::{
    mem,
    ops::{ControlFlow, Range},
    panic::AssertUnwindSafe,
    pin::pin,
    time::{Duration, SystemTime},
};

use futures_util::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, select},
    stream::FuturesUnordered,
};

use super::{
    Dispatcher, Handled,
    exchange::{Finished, panicked},
};
use crate::{
    ports::StoreError,
    sender::{Disposition, LeaseRequest, Leased, Leases, SetAside, Settled},
};

/// How long a lease outlives the deadline of its exchange: time to load, sign and settle.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// How many deliveries a run has under way that may be what crashes it: with two, nobody could tell which it was.
const SUSPECTS: usize = 1;

/// When to look again for what is due and cannot be leased at the moment; twice as late each time, but for the last.
const FIRST_LOOK: Duration = Duration::from_millis(250);
const LONGEST_LOOK: Duration = Duration::from_secs(4);

impl Dispatcher {
    async fn lease(&self, limit: usize, suspects: usize) -> Result<Leases, StoreError> {
        let now = self.clock.now();
        let lease = self.deadline + LEASE_MARGIN;
        let request = LeaseRequest {
            now,
            until: now.checked_add(lease).unwrap_or(now),
            limit,
            per_endpoint: self.concurrency_per_endpoint,
            suspects,
            quarantine_after: self.quarantine_after,
        };
        self.outbox.lease(&request).await
    }

    /// Does what a lease is for. Whatever the host's parts do, it ends in a value.
    async fn end(&self, leased: Leased) -> Ended {
        let is_suspect = leased.delivery.is_suspect();
        let result = AssertUnwindSafe(self.work(leased)).catch_unwind().await;
        let result = result.map_err(|panic| StoreError::unavailable(panicked("the exchange", &*panic)));
        Ended { is_suspect, result }
    }
}

/// A lease that has come to its end, in one way or another.
pub(super) struct Ended {
    pub(super) is_suspect: bool,
    pub(super) result: Result<Finished, StoreError>,
}

/// The exchanges of one call.
pub(super) struct Round<'d> {
    pub(super) dispatcher: &'d Dispatcher,
    pub(super) exchanges: Exchanges<'d>,
    pub(super) suspects: usize,
    /// Outcomes that could not be written, and whose leases go on.
    pub(super) unwritten: Vec<Finished>,
    /// What was due and failed instead of being leased.
    pub(super) set_aside: Vec<Handled>,
    /// What went wrong with the stores.
    pub(super) errors: Vec<StoreError>,
    /// How many times in a row nothing could be leased of what is due.
    in_vain: u32,
    /// Whether the outbox has failed, or the host's rules.
    pub(super) has_failed: bool,
    /// The time after such a failure in which nothing is leased.
    pause: Range<SystemTime>,
}

impl<'d> Round<'d> {
    pub(super) fn new(dispatcher: &'d Dispatcher) -> Self {
        Self {
            dispatcher,
            exchanges: Exchanges::default(),
            suspects: 0,
            unwritten: Vec::new(),
            set_aside: Vec::new(),
            errors: Vec::new(),
            in_vain: 0,
            has_failed: false,
            pause: SystemTime::UNIX_EPOCH..SystemTime::UNIX_EPOCH,
        }
    }

    /// Fills every free place with what is due, and says how many it filled.
    pub(super) async fn lease(&mut self) -> usize {
        let (dispatcher, room) = (self.dispatcher, self.room());
        if room == 0 || self.is_paused() {
            return 0;
        }
        let suspects = SUSPECTS.saturating_sub(self.suspects);
        let leases = self.exchanges.beside(dispatcher.lease(room, suspects)).await;
        let Leases { leased, set_aside } = self.keep(leases).unwrap_or_default();
        self.set_aside.extend(set_aside.into_iter().map(failed_unsent));
        let count = leased.len();
        if count > 0 {
            self.in_vain = 0;
        }
        self.suspects += leased
            .iter()
            .filter(|leased| leased.delivery.is_suspect())
            .count();
        let exchanges = leased.into_iter().map(|leased| dispatcher.end(leased).boxed());
        self.exchanges.under_way.extend(exchanges);
        count
    }

    /// When there is something for the free places, or something to write again.
    pub(super) async fn next_due(&mut self) -> Option<SystemTime> {
        let (dispatcher, now) = (self.dispatcher, self.dispatcher.clock.now());
        let writes_again = !self.unwritten.is_empty();
        if self.room() == 0 && !writes_again {
            return None;
        }
        if self.pause.contains(&now) {
            return Some(self.pause.end);
        }
        if writes_again {
            return Some(now);
        }
        let due_at = self.exchanges.beside(dispatcher.outbox.next_due()).await;
        match self.keep(due_at) {
            None => Some(self.pause.end),
            // what was not leased a moment ago cannot be leased a moment later either
            Some(Some(due_at)) if due_at <= now => Some(self.look_again(now)),
            Some(due_at) => due_at,
        }
    }

    /// What has ended, once something has; `None` when nothing is under way. May be dropped: it loses nothing.
    pub(super) async fn ended(&mut self) -> Option<Vec<Ended>> {
        self.exchanges.ended().await
    }

    /// What has ended, once something has or `wait` says to go on.
    pub(super) async fn ended_or(
        &mut self,
        wait: impl Future<Output = ControlFlow<()>>,
    ) -> ControlFlow<(), Vec<Ended>> {
        let wait = pin!(wait);
        if self.exchanges.is_empty() {
            return wait.await.map_continue(|()| Vec::new());
        }
        // `wait` first: under load something has always ended, and to stop must be heard all the same
        match select(wait, pin!(self.exchanges.ended())).await {
            Either::Left((told, ended)) => {
                told.map_continue(|()| ended.now_or_never().flatten().unwrap_or_default())
            }
            Either::Right((ended, _)) => ControlFlow::Continue(ended.unwrap_or_default()),
        }
    }

    /// How many exchanges may be begun: what cannot be written keeps its place.
    fn room(&self) -> usize {
        let taken = self.exchanges.under_way.len() + self.unwritten.len();
        self.dispatcher.concurrency.saturating_sub(taken)
    }

    /// Whether a failure was a moment ago.
    pub(super) fn is_paused(&self) -> bool {
        self.pause.contains(&self.dispatcher.clock.now())
    }

    pub(super) fn keep<T>(&mut self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors.push(error);
                self.has_failed = true;
                let now = self.dispatcher.clock.now();
                if !self.pause.contains(&now) {
                    self.pause = now..self.look_again(now);
                }
                None
            }
        }
    }

    fn look_again(&mut self, now: SystemTime) -> SystemTime {
        let doubled = FIRST_LOOK.saturating_mul(2_u32.saturating_pow(self.in_vain));
        self.in_vain = self.in_vain.saturating_add(1);
        now.checked_add(doubled.min(LONGEST_LOOK)).unwrap_or(now)
    }
}

/// The exchanges in the air, and those that came home while a store was asked.
#[derive(Default)]
pub(super) struct Exchanges<'d> {
    under_way: FuturesUnordered<BoxFuture<'d, Ended>>,
    home: Vec<Ended>,
}

impl Exchanges<'_> {
    /// Asks a store while the exchanges go on: what comes home during one write is settled together by the next.
    pub(super) async fn beside<T>(&mut self, verb: impl Future<Output = T>) -> T {
        let mut verb = pin!(verb);
        while !self.under_way.is_empty() {
            match select(verb.as_mut(), self.under_way.next()).await {
                Either::Left((answer, _)) => return answer,
                Either::Right((ended, _)) => self.home.extend(ended),
            }
        }
        verb.await
    }

    /// See [`Round::ended`].
    async fn ended(&mut self) -> Option<Vec<Ended>> {
        if self.home.is_empty() {
            let first = self.under_way.next().await?;
            self.home.push(first);
        }
        while let Some(Some(next)) = self.under_way.next().now_or_never() {
            self.home.push(next);
        }
        Some(mem::take(&mut self.home))
    }

    fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.home.is_empty()
    }
}

fn failed_unsent(SetAside { delivery, reason }: SetAside) -> Handled {
    Handled {
        delivery,
        outcome: None,
        disposition: Disposition::Failed(reason),
        settled: Settled::Applied,
        endpoint_disabled: false,
        health: None,
    }
}
