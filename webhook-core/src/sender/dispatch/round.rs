//! State of one call of `run` or `run_due`: its leases and running exchanges.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    ops::{ControlFlow, Range},
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, select},
    stream::FuturesUnordered,
};

use super::{
    Dispatcher, Handled, Limits,
    exchange::{Finished, LoadedEndpoint, guarded},
    membership::Membership,
};
use crate::{
    ports::StoreError,
    sender::{
        DeliveryEvent, Disposition, Endpoint, EndpointId, InstanceId, LeaseRequest, Leased, Places, SetAside,
        Settled, Standing,
    },
};

/// Time that a lease without an owner lasts beyond the deadline of its exchange, to load, sign and
/// settle.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// Maximum number of suspects at a time; with two, a crash would not show which one caused it.
const SUSPECTS: usize = 1;

/// First wait before due deliveries that could not be leased are tried again; it doubles up to
/// `LONGEST_LOOK`.
const FIRST_LOOK: Duration = Duration::from_millis(250);
const LONGEST_LOOK: Duration = Duration::from_secs(4);

/// Largest lag of the wall clock behind the monotonic clock that is not taken for a step back.
const STEP_BACK: Duration = Duration::from_secs(1);

impl Dispatcher {
    /// Delivers one leased event. A panic of the host's code becomes an outcome.
    async fn end(&self, leased: Leased, endpoint: LoadedEndpoint) -> Ended {
        let finished = AssertUnwindSafe(self.work(&leased, endpoint))
            .catch_unwind()
            .await;
        Ended {
            is_suspect: leased.delivery.is_suspect(),
            finished: finished.unwrap_or_else(|panic| self.panicked(&leased, &*panic)),
        }
    }
}

/// End of a lease.
pub(super) struct Ended {
    pub(super) is_suspect: bool,
    pub(super) finished: Finished,
}

/// State of one call of `run` or `run_due`.
pub(super) struct Round<'d> {
    pub(super) dispatcher: &'d Dispatcher,
    /// `None` for a single pass, whose leases end by time.
    pub(super) membership: Option<&'d Membership>,
    pub(super) exchanges: Exchanges<'d>,
    pub(super) places: Places,
    pub(super) suspects: usize,
    /// Outcomes that could not be written yet. They keep their places.
    pub(super) unwritten: Vec<Finished>,
    /// Due deliveries that failed instead of being leased.
    pub(super) set_aside: Vec<Handled>,
    /// Store errors to report.
    pub(super) errors: Vec<StoreError>,
    /// Number of deliveries that were leased.
    pub(super) leased: usize,
    /// Earliest due delivery after the last turn.
    pub(super) due_at: Option<SystemTime>,
    /// Number of consecutive leases that returned nothing although deliveries were due.
    in_vain: u32,
    /// `true` after an error of the outbox.
    pub(super) has_failed: bool,
    /// Period after such an error in which nothing is leased.
    pause: Range<SystemTime>,
    /// Both clocks at the last turn.
    clocks: (SystemTime, Duration),
    /// `true` if `Outbox::pull_forward` must be called before the next lease: at the start of
    /// `run`, and after the clock was set back.
    needs_pull: bool,
}

impl<'d> Round<'d> {
    pub(super) fn new(dispatcher: &'d Dispatcher, membership: Option<&'d Membership>) -> Self {
        Self {
            dispatcher,
            membership,
            exchanges: Exchanges::default(),
            places: Places::new(dispatcher.concurrency),
            suspects: 0,
            unwritten: Vec::new(),
            set_aside: Vec::new(),
            errors: Vec::new(),
            leased: 0,
            due_at: None,
            in_vain: 0,
            has_failed: false,
            pause: SystemTime::UNIX_EPOCH..SystemTime::UNIX_EPOCH,
            clocks: (dispatcher.clock.now(), dispatcher.clock.monotonic()),
            needs_pull: membership.is_some(),
        }
    }

    /// Creates a request for all places that are free once `finished` is settled; `None` if nothing
    /// may be leased now.
    pub(super) async fn lease_request(&mut self, finished: &[Finished]) -> Option<LeaseRequest> {
        let mut places = self.places.clone();
        for outcome in finished {
            places.free(outcome.standing);
        }
        let (dispatcher, room) = (self.dispatcher, places.room());
        if room == 0 || self.is_paused() {
            return None;
        }
        let owner = match self.membership {
            None => None,
            Some(membership) => {
                let owner = self.exchanges.beside(membership.owner(dispatcher)).await;
                self.keep(owner)?
            }
        };
        self.pull_forward().await?;
        let now = dispatcher.clock.now();
        let by_time = now.checked_add(dispatcher.deadline + LEASE_MARGIN).unwrap_or(now);
        Some(LeaseRequest {
            now,
            until: owner.map_or(by_time, |_| LeaseRequest::until_freed()),
            owner,
            limit: room,
            bulkheads: places.bulkheads(dispatcher.concurrency_per_endpoint),
            per_endpoint: places.per_endpoint(dispatcher.concurrency_per_endpoint),
            suspects: SUSPECTS.saturating_sub(self.suspects),
            quarantine_after: dispatcher.quarantine_after,
        })
    }

    /// Makes deliveries due that wait only because the wall clock was set back; `None` after an
    /// error.
    async fn pull_forward(&mut self) -> Option<()> {
        let dispatcher = self.dispatcher;
        let (now, monotonic) = (dispatcher.clock.now(), dispatcher.clock.monotonic());
        let (wall, before) = mem::replace(&mut self.clocks, (now, monotonic));
        let expected = wall.checked_add(monotonic.saturating_sub(before)).unwrap_or(wall);
        self.needs_pull |= expected.duration_since(now).unwrap_or_default() > STEP_BACK;
        if self.needs_pull {
            let pulled = dispatcher.within(Limits::VERB, dispatcher.outbox.pull_forward(now));
            let pulled = self.exchanges.beside(pulled).await;
            // a failed call is repeated before the next lease
            self.keep(pulled)?;
            self.needs_pull = false;
        }
        Some(())
    }

    /// Starts the exchanges of these leases, after their endpoints were loaded in one call.
    pub(super) async fn start(&mut self, leased: Vec<Leased>) {
        if leased.is_empty() {
            return;
        }
        self.in_vain = 0;
        self.leased += leased.len();
        let dispatcher = self.dispatcher;
        let now = dispatcher.clock.now();
        for Leased {
            delivery,
            due_at,
            standing,
            ..
        } in &leased
        {
            self.places.take(*standing);
            self.suspects += usize::from(delivery.is_suspect());
            if let Some(membership) = self.membership {
                membership.hold(delivery.owner);
            }
            let lag = now.duration_since(*due_at).unwrap_or_default();
            let delivery = &delivery.id;
            dispatcher.record(&DeliveryEvent::Leased { delivery, lag });
        }
        let loaded = self.load_endpoints(&leased).await;
        let exchanges = leased.into_iter().map(|leased| {
            let endpoint = match &loaded {
                // one unreadable row fails the whole call, so each endpoint is loaded alone
                None => LoadedEndpoint::Unloaded,
                Some(loaded) => LoadedEndpoint::Loaded(loaded.get(&leased.delivery.id.endpoint).cloned()),
            };
            dispatcher.end(leased, endpoint).boxed()
        });
        self.exchanges.under_way.extend(exchanges);
    }

    async fn load_endpoints(&mut self, leased: &[Leased]) -> Option<BTreeMap<EndpointId, Arc<Endpoint>>> {
        let ids: BTreeSet<&EndpointId> = leased.iter().map(|leased| &leased.delivery.id.endpoint).collect();
        let ids: Vec<EndpointId> = ids.into_iter().cloned().collect();
        let loaded = guarded(self.dispatcher.endpoints.load_many(&ids));
        let loaded = self.dispatcher.within(Limits::LOAD, loaded);
        let loaded = self.exchanges.beside(loaded).await.ok()?;
        let loaded = loaded.into_iter();
        Some(
            loaded
                .map(|endpoint| (endpoint.id.clone(), Arc::new(endpoint)))
                .collect(),
        )
    }

    /// Time of the next lease, or of the next try to write outcomes; `None` if no time is known.
    pub(super) fn next_due(&mut self) -> Option<SystemTime> {
        let now = self.dispatcher.clock.now();
        if self.places.room() == 0 && self.unwritten.is_empty() {
            return None;
        }
        if self.pause.contains(&now) {
            return Some(self.pause.end);
        }
        if !self.unwritten.is_empty() {
            return Some(now);
        }
        match self.due_at {
            // these deliveries could not be leased a moment ago, so wait before the next try
            Some(due_at) if due_at <= now => Some(self.look_again(now)),
            due_at => due_at.filter(|due_at| *due_at < LeaseRequest::until_freed()),
        }
    }

    /// Waits for the end of an exchange; `None` if no exchange runs. Cancel-safe.
    pub(super) async fn ended(&mut self) -> Option<Vec<Ended>> {
        self.exchanges.ended().await
    }

    /// Waits for the end of an exchange, for freed leases, or for `wait`.
    pub(super) async fn ended_or(
        &mut self,
        wait: impl Future<Output = ControlFlow<()>>,
    ) -> ControlFlow<(), Vec<Ended>> {
        let wait = pin!(wait);
        let freed = async {
            match self.membership {
                Some(membership) => membership.freed().await,
                None => std::future::pending().await,
            }
        };
        // `wait` is polled first, so that a stop is seen even if exchanges end all the time
        let wait = async {
            match select(wait, pin!(freed)).await {
                Either::Left((flow, _)) => flow,
                Either::Right(_) => ControlFlow::Continue(()),
            }
        };
        let wait = pin!(wait);
        if self.exchanges.is_empty() {
            return wait.await.map_continue(|()| Vec::new());
        }
        match select(wait, pin!(self.exchanges.ended())).await {
            Either::Left((flow, ended)) => {
                flow.map_continue(|()| ended.now_or_never().flatten().unwrap_or_default())
            }
            Either::Right((ended, _)) => ControlFlow::Continue(ended.unwrap_or_default()),
        }
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

    /// Errors to report, also those of the heartbeat.
    pub(super) fn take_errors(&mut self) -> impl Iterator<Item = StoreError> {
        let beats = self.membership.map(Membership::take_errors).unwrap_or_default();
        mem::take(&mut self.errors).into_iter().chain(beats)
    }

    fn look_again(&mut self, now: SystemTime) -> SystemTime {
        let doubled = FIRST_LOOK.saturating_mul(2_u32.saturating_pow(self.in_vain));
        self.in_vain = self.in_vain.saturating_add(1);
        now.checked_add(doubled.min(LONGEST_LOOK)).unwrap_or(now)
    }

    /// Frees the place of a lease whose outcome was written or given up.
    pub(super) fn release(&mut self, standing: Standing, owner: Option<InstanceId>) {
        self.places.free(standing);
        if let Some(membership) = self.membership {
            membership.settle(owner);
        }
    }
}

/// Running exchanges, and results that arrived during a store call.
#[derive(Default)]
pub(super) struct Exchanges<'d> {
    under_way: FuturesUnordered<BoxFuture<'d, Ended>>,
    finished: Vec<Ended>,
}

impl Exchanges<'_> {
    /// Runs a store call while the exchanges continue. Outcomes that arrive meanwhile are settled
    /// in one batch by the next write.
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

pub(super) fn failed_unsent(SetAside { delivery, reason }: SetAside) -> Handled {
    Handled {
        delivery,
        outcome: None,
        disposition: Disposition::Failed(reason),
        settled: Settled::Applied,
        endpoint_disabled: false,
        health: None,
        skew: None,
    }
}
