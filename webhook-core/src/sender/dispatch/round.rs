//! What is under way: leases taken, exchanges in the air, outcomes to be written.

use std::{
    collections::BTreeSet,
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
    sender::{
        Disposition, EndpointId, EndpointState, HealthEvent, LeaseRequest, Leased, Leases, Receipt, SetAside,
        Settled, Settlement,
    },
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

    async fn settle(&self, finished: Vec<Finished>) -> Result<Vec<Handled>, StoreError> {
        if finished.is_empty() {
            return Ok(Vec::new());
        }
        let (settlements, effects): (Vec<_>, Vec<_>) = finished
            .into_iter()
            .map(
                |Finished {
                     settlement,
                     outcome,
                     endpoint_disabled,
                     ..
                 }| {
                    let effect = (
                        settlement.delivery.clone(),
                        settlement.disposition,
                        outcome,
                        endpoint_disabled,
                    );
                    (settlement, effect)
                },
            )
            .unzip();
        let receipts = self.outbox.settle(settlements).await?;
        let handled = effects.into_iter().zip(receipts);
        let handled = handled.map(
            |((delivery, disposition, outcome, endpoint_disabled), Receipt { settled, health })| Handled {
                delivery,
                outcome,
                disposition,
                settled,
                endpoint_disabled,
                health,
            },
        );
        Ok(handled.collect())
    }
}

/// A lease that has come to its end, in one way or another.
pub(super) struct Ended {
    is_suspect: bool,
    result: Result<Finished, StoreError>,
}

/// The exchanges of one call.
pub(super) struct Round<'d> {
    dispatcher: &'d Dispatcher,
    exchanges: Exchanges<'d>,
    suspects: usize,
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
        if room == 0 || self.pause.contains(&dispatcher.clock.now()) {
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

    /// When there is something for the free places.
    pub(super) async fn next_due(&mut self) -> Option<SystemTime> {
        if self.room() == 0 {
            return None;
        }
        let (dispatcher, now) = (self.dispatcher, self.dispatcher.clock.now());
        if self.pause.contains(&now) {
            return Some(self.pause.end);
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

    /// Writes outcomes. Must not be dropped half way, or they are lost and sent again.
    pub(super) async fn settle(&mut self, ended: Vec<Ended>) -> Vec<Handled> {
        self.suspects -= ended.iter().filter(|ended| ended.is_suspect).count();
        let mut finished: Vec<Finished> = ended
            .into_iter()
            .filter_map(|ended| self.keep(ended.result))
            .collect();
        // told, and no reason to pause: who may be read is served, and who may not is held
        self.errors
            .extend(finished.iter_mut().filter_map(|finished| finished.failure.take()));
        let leases: Vec<_> = finished.iter().map(Finished::lease).collect();
        let settled = self.dispatcher.settle(finished);
        let handled = self.exchanges.beside(settled).await;
        let mut handled = self.keep(handled).unwrap_or_default();
        let mut disabled = BTreeSet::new();
        for (handled, lease) in handled.iter_mut().zip(leases) {
            let endpoint = &handled.delivery.endpoint;
            if let Some(HealthEvent::Disabled { .. }) = handled.health {
                handled.endpoint_disabled =
                    disabled.contains(endpoint) || self.disable(endpoint, lease).await;
                disabled.extend(handled.endpoint_disabled.then(|| endpoint.clone()));
            }
        }
        handled
    }

    /// Disables an endpoint that is given up, and only then has its health start anew: if we stop before, the next failure
    /// gives it up again.
    async fn disable(&mut self, endpoint: &EndpointId, lease: Settlement) -> bool {
        let endpoints = &self.dispatcher.endpoints;
        let disabled = endpoints.set_state(endpoint, EndpointState::Disabled);
        let disabled = self.exchanges.beside(disabled).await;
        let Some(disabled) = self.keep(disabled) else {
            return false;
        };
        let confirmed = self.dispatcher.outbox.settle(vec![lease]);
        let confirmed = self.exchanges.beside(confirmed).await;
        self.keep(confirmed);
        disabled
    }

    /// How many exchanges may be begun.
    fn room(&self) -> usize {
        self.dispatcher
            .concurrency
            .saturating_sub(self.exchanges.under_way.len())
    }

    fn keep<T>(&mut self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors.push(error);
                self.has_failed = true;
                let now = self.dispatcher.clock.now();
                self.pause = now..self.look_again(now);
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
struct Exchanges<'d> {
    under_way: FuturesUnordered<BoxFuture<'d, Ended>>,
    home: Vec<Ended>,
}

impl Exchanges<'_> {
    /// Asks a store while the exchanges go on: what comes home during one write is settled together by the next.
    async fn beside<T>(&mut self, verb: impl Future<Output = T>) -> T {
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
