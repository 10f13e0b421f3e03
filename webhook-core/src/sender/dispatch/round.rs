//! State of one call: leases and running exchanges.

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

/// Time by which a lease outlives the deadline of its exchange: to load, sign and settle.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// Maximum number of suspects at a time; with two, a crash would not show which one caused it.
const SUSPECTS: usize = 1;

/// First wait for due deliveries that cannot be leased; it doubles up to `LONGEST_LOOK`.
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

    /// Delivers one leased event. Panics of the host's ports become values.
    async fn end(&self, leased: Leased) -> Ended {
        let is_suspect = leased.delivery.is_suspect();
        let result = AssertUnwindSafe(self.work(leased)).catch_unwind().await;
        let result = result.map_err(|panic| StoreError::unavailable(panicked("the exchange", &*panic)));
        Ended { is_suspect, result }
    }
}

/// End of a lease.
pub(super) struct Ended {
    pub(super) is_suspect: bool,
    pub(super) result: Result<Finished, StoreError>,
}

/// The exchanges of one call.
pub(super) struct Round<'d> {
    pub(super) dispatcher: &'d Dispatcher,
    pub(super) exchanges: Exchanges<'d>,
    pub(super) suspects: usize,
    /// Outcomes that could not be written yet.
    pub(super) unwritten: Vec<Finished>,
    /// Due deliveries that failed instead of being leased.
    pub(super) set_aside: Vec<Handled>,
    /// Store errors to report.
    pub(super) errors: Vec<StoreError>,
    /// Number of consecutive leases that returned nothing although deliveries were due.
    in_vain: u32,
    /// `true` after an error of the outbox or of the host's policy.
    pub(super) has_failed: bool,
    /// Time after such an error in which nothing is leased.
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

    /// Leases due deliveries for all free places; returns their number.
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

    /// Time of the next lease or of the next write of unwritten outcomes.
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
            // these deliveries could not be leased a moment ago, so wait before the next try
            Some(Some(due_at)) if due_at <= now => Some(self.look_again(now)),
            Some(due_at) => due_at,
        }
    }

    /// Waits for the end of a lease; `None` if no exchange runs. Dropping the future loses nothing.
    pub(super) async fn ended(&mut self) -> Option<Vec<Ended>> {
        self.exchanges.ended().await
    }

    /// Waits for the end of a lease, or for `wait`.
    pub(super) async fn ended_or(
        &mut self,
        wait: impl Future<Output = ControlFlow<()>>,
    ) -> ControlFlow<(), Vec<Ended>> {
        let wait = pin!(wait);
        if self.exchanges.is_empty() {
            return wait.await.map_continue(|()| Vec::new());
        }
        // `wait` is polled first, so that a stop is seen even if exchanges end all the time
        match select(wait, pin!(self.exchanges.ended())).await {
            Either::Left((flow, ended)) => {
                flow.map_continue(|()| ended.now_or_never().flatten().unwrap_or_default())
            }
            Either::Right((ended, _)) => ControlFlow::Continue(ended.unwrap_or_default()),
        }
    }

    /// Number of exchanges that may start. Unwritten outcomes keep their places.
    fn room(&self) -> usize {
        let taken = self.exchanges.under_way.len() + self.unwritten.len();
        self.dispatcher.concurrency.saturating_sub(taken)
    }

    /// Returns `true` during the pause after an error.
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

/// Running exchanges, and results that arrived during a store call.
#[derive(Default)]
pub(super) struct Exchanges<'d> {
    under_way: FuturesUnordered<BoxFuture<'d, Ended>>,
    finished: Vec<Ended>,
}

impl Exchanges<'_> {
    /// Polls the exchanges during a store call. Their results are settled in one batch by the next
    /// write.
    pub(super) async fn beside<T>(&mut self, verb: impl Future<Output = T>) -> T {
        let mut verb = pin!(verb);
        while !self.under_way.is_empty() {
            match select(verb.as_mut(), self.under_way.next()).await {
                Either::Left((answer, _)) => return answer,
                Either::Right((ended, _)) => self.finished.extend(ended),
            }
        }
        verb.await
    }

    /// See [`Round::ended`].
    async fn ended(&mut self) -> Option<Vec<Ended>> {
        if self.finished.is_empty() {
            let first = self.under_way.next().await?;
            self.finished.push(first);
        }
        while let Some(Some(next)) = self.under_way.next().now_or_never() {
            self.finished.push(next);
        }
        Some(mem::take(&mut self.finished))
    }

    fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.finished.is_empty()
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
