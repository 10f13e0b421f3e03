//! The simulation can fail: stores with one flaw each, found within a few hundred seeds.

use std::{
    collections::HashMap,
    future::poll_fn,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    thread,
    time::{Duration, SystemTime},
};

use webhook_core::{
    memory::{MemoryInbox, MemoryOutbox},
    ports::StoreError,
    receiver::{
        BodyDigest, Buried, BuriedQuery, Claim, Dedupe, EventKey, Finish, Inbox, Incoming, Queued, Ticket,
    },
    sender::{
        Attempt, Audience, Delivery, DeliveryFilter, DeliveryId, Departure, Endpoint, Enqueue, Enqueued,
        Heartbeat, InstanceId, LeaseRequest, Leases, Missing, MissingRequest, Outbox, Owner, Page, Receipt,
        ReplayRequest, Replayed, Settled, Settlement,
    },
};
use webhook_core_conformance::simulation::{Invariant, Stores, simulate};

const FEW_HUNDRED: u64 = 400;

/// W15: a store that writes outcomes of any lease is found.
#[test]
fn a_store_that_settles_without_a_fence_is_found() {
    check(Flaw::SettlesWithoutFence, Invariant::OneFenceSettles);
}

/// W13, W15: a lease that is neither settled nor lost is found.
#[test]
fn a_dispatcher_that_forgets_to_settle_is_found() {
    // several invariants break; the seed decides which one is seen first
    let violation = (0..FEW_HUNDRED).find_map(|seed| simulate(seed, || flawed(Flaw::NeverSettles)).err());
    let invariant = violation.unwrap().invariant;
    let expected = [
        Invariant::NothingIsLost,
        Invariant::StoppedDispatcherIsIdle,
        Invariant::AttemptsAreBounded,
    ];
    assert!(expected.contains(&invariant), "{invariant:?}");
}

/// W11, W14: an endpoint that is called before its `Retry-After` is found.
#[test]
fn a_lease_that_ignores_the_hold_of_an_endpoint_is_found() {
    check(Flaw::IgnoresHold, Invariant::NeverTooEarly);
}

/// W14: a delivery that is leased before it is due is found.
#[test]
fn a_lease_before_the_due_time_is_found() {
    check(Flaw::LeasesEarly, Invariant::NeverTooEarly);
}

/// W15: a delivery that crashes dispatcher after dispatcher is found.
#[test]
fn outbox_without_quarantine_is_found() {
    check(Flaw::NeverSetsAside, Invariant::OnlyCrashersAreQuarantined);
}

/// W15: the quarantine of a delivery that crashes no dispatcher is found.
#[test]
fn quarantine_of_wrong_delivery_is_found() {
    check(Flaw::ForgetsSuspects, Invariant::OnlyCrashersAreQuarantined);
}

/// W29: leases of a dead instance that are never freed are found.
#[test]
fn outbox_that_keeps_leases_of_the_dead_is_found() {
    check(Flaw::KeepsLeases, Invariant::EverythingEnds);
}

/// W29: an instance that is removed although it lives is found.
#[test]
fn outbox_that_removes_the_living_is_found() {
    check(Flaw::ForgetsHeartbeats, Invariant::AttemptsAreBounded);
}

/// W15: an event that was accepted and not stored is found.
#[test]
fn an_outbox_that_loses_a_confirmed_event_is_found() {
    check(Flaw::LosesEvents, Invariant::NothingIsLost);
}

/// W15: an outcome that was confirmed and not stored is found.
#[test]
fn an_outbox_that_loses_a_confirmed_outcome_is_found() {
    check(Flaw::LosesOutcomes, Invariant::NeverTooEarly);
}

/// W18: an earlier event that a latecomer does not get, for example between two pages, is found.
#[test]
fn omitted_earlier_event_is_found() {
    check(Flaw::LeavesOutMissing, Invariant::NothingIsLost);
}

/// W18: an outbox that restarts failed deliveries as missing ones is found.
#[test]
fn restart_of_failed_as_missing_is_found() {
    check(Flaw::TakesFailedForMissing, Invariant::AttemptsAreBounded);
}

/// W18: a dry run that creates deliveries is found.
#[test]
fn an_outbox_whose_dry_run_makes_deliveries_is_found() {
    check(Flaw::MakesInDryRuns, Invariant::NoUnrequestedDeliveries);
}

/// W23: an outbox that forgets the audience of its events, and gives a latecomer those of another
/// tenant, is found.
#[test]
fn outbox_that_crosses_tenants_is_found() {
    check(Flaw::CrossesTenants, Invariant::TenantsAreSeparate);
}

/// W7, W15: a receiver that crashes between claim and queue loses an event that the sender believes
/// delivered, which is found.
#[test]
fn a_receiver_that_claims_first_and_queues_later_is_found() {
    let stores = || Stores {
        inbox: Arc::new(ClaimsFirst::default()),
        ..Stores::in_memory()
    };
    found(stores, Invariant::NothingIsLost);
}

/// W15: a store that responds from another thread can be simulated; virtual time waits for it.
#[test]
fn a_store_may_answer_from_another_thread() {
    for seed in 0..20 {
        let census = simulate(seed, || flawed(Flaw::AnswersFromAThread)).unwrap();
        assert!(census.acknowledged > 0, "seed {seed}");
    }
}

fn check(flaw: Flaw, expected: Invariant) {
    found(|| flawed(flaw), expected);
}

fn found(stores: impl Fn() -> Stores, expected: Invariant) {
    let violation = (0..FEW_HUNDRED).find_map(|seed| simulate(seed, &stores).err());
    let violation = violation.unwrap();
    assert_eq!(violation.invariant, expected, "{violation}");
    assert!(!violation.trace.is_empty());
    assert_eq!(simulate(violation.seed, &stores), Err(violation), "it repeats");
}

fn flawed(flaw: Flaw) -> Stores {
    let outbox = Flawed {
        inner: MemoryOutbox::default(),
        flaw,
        calls: AtomicU64::new(0),
    };
    Stores {
        outbox: Arc::new(outbox),
        ..Stores::in_memory()
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Flaw {
    SettlesWithoutFence,
    NeverSettles,
    IgnoresHold,
    LeasesEarly,
    NeverSetsAside,
    ForgetsSuspects,
    KeepsLeases,
    ForgetsHeartbeats,
    LosesEvents,
    LosesOutcomes,
    LeavesOutMissing,
    TakesFailedForMissing,
    MakesInDryRuns,
    CrossesTenants,
    /// No flaw: the store is only slow.
    AnswersFromAThread,
}

/// Outbox with an occasional flaw.
struct Flawed {
    inner: MemoryOutbox,
    flaw: Flaw,
    calls: AtomicU64,
}

impl Flawed {
    /// Returns `true` for every third call.
    fn is_wrong_now(&self, flaw: Flaw) -> bool {
        self.flaw == flaw && self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 2
    }

    async fn latest_lease(&self, delivery: &DeliveryId) -> (u64, Option<InstanceId>) {
        let found = self.list(&DeliveryFilter::one(delivery), &Page::default()).await;
        found
            .unwrap()
            .first()
            .map_or((0, None), |row| (row.fence, row.owner))
    }
}

#[async_trait::async_trait]
impl Outbox for Flawed {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        if self.is_wrong_now(Flaw::LosesEvents) {
            return Ok(Enqueued::Enqueued);
        }
        self.inner.enqueue(enqueue).await
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        let mut request = *request;
        match self.flaw {
            Flaw::LeasesEarly => request.now += Duration::from_secs(2),
            Flaw::NeverSetsAside => request.quarantine_after = u32::MAX,
            Flaw::ForgetsSuspects => request.suspects = request.limit,
            _ => {}
        }
        let mut leases = self.inner.lease(&request).await?;
        if self.flaw == Flaw::CrossesTenants {
            for leased in &mut leases.leased {
                leased.event.audience = Audience::everyone();
            }
        }
        Ok(leases)
    }

    async fn settle(&self, mut settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        let lost = |settled| Receipt {
            settled,
            health: None,
        };
        if self.is_wrong_now(Flaw::NeverSettles) {
            return Ok(settlements.iter().map(|_| lost(Settled::Stale)).collect());
        }
        if self.is_wrong_now(Flaw::LosesOutcomes) {
            return Ok(settlements.iter().map(|_| lost(Settled::Applied)).collect());
        }
        for settlement in &mut settlements {
            match self.flaw {
                Flaw::SettlesWithoutFence => {
                    let latest = self.latest_lease(&settlement.delivery).await;
                    (settlement.fence, settlement.owner) = latest;
                }
                Flaw::IgnoresHold => settlement.hold_endpoint_until = None,
                _ => {}
            }
        }
        self.inner.settle(settlements).await
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        self.inner.join().await
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        let mut beats = self.inner.beat(instance).await?;
        if self.flaw == Flaw::ForgetsHeartbeats {
            beats.iter_mut().for_each(|beat| beat.counter = 0);
        }
        Ok(beats)
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        match self.flaw {
            Flaw::KeepsLeases => Ok(0),
            // the counter is not compared either
            Flaw::ForgetsHeartbeats if departure != Departure::Stopped => {
                let beats = self.inner.beat(InstanceId::new(u64::MAX)).await?;
                let counter = beats.iter().find(|beat| beat.instance == instance);
                let counter = counter.map_or(0, |beat| beat.counter);
                let departure = Departure::Silent { counter };
                self.inner.leave(instance, departure, now).await
            }
            _ => self.inner.leave(instance, departure, now).await,
        }
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        if self.flaw == Flaw::AnswersFromAThread {
            from_a_thread().await;
        }
        self.inner.next_due().await
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        self.inner.list(filter, page).await
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        self.inner.attempts(delivery).await
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        self.inner.replay(request).await
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        let mut request = request.clone();
        match self.flaw {
            Flaw::LeavesOutMissing if request.after.is_some() => {
                let (limit, dry_run) = (1, true);
                let one = MissingRequest {
                    limit,
                    dry_run,
                    ..request.clone()
                };
                request.after = self
                    .inner
                    .replay_missing(endpoint, &one)
                    .await?
                    .next
                    .or(request.after);
            }
            Flaw::MakesInDryRuns => request.dry_run = false,
            Flaw::TakesFailedForMissing => {
                let (filter, now, dry_run) = (DeliveryFilter::failed(), request.now, request.dry_run);
                self.inner
                    .replay(&ReplayRequest {
                        filter,
                        acknowledged: false,
                        after: None,
                        limit: usize::MAX,
                        now,
                        dry_run,
                    })
                    .await?;
            }
            _ => {}
        }
        if self.flaw == Flaw::CrossesTenants {
            let is_even = endpoint.owner.to_string() == "tenant:even";
            let other = if is_even { "odd" } else { "even" };
            let foreign = Endpoint {
                owner: Owner::Tenant(other.parse().unwrap()),
                ..endpoint.clone()
            };
            self.inner.replay_missing(&foreign, &request).await?;
        }
        self.inner.replay_missing(endpoint, &request).await
    }
}

/// Two steps instead of one: a crash between them loses the event.
#[derive(Default)]
struct ClaimsFirst {
    claims: Mutex<HashMap<EventKey, BodyDigest>>,
    queue: MemoryInbox,
}

#[async_trait::async_trait]
impl Dedupe for ClaimsFirst {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        let claimed = self
            .claims
            .lock()
            .unwrap()
            .insert(event.key.clone(), event.digest);
        if claimed.is_some() {
            return Ok(Claim::Duplicate);
        }
        for _ in 0..20 {
            others_go_first().await;
        }
        self.queue.claim_and_enqueue(event, now).await
    }
}

#[async_trait::async_trait]
impl Inbox for ClaimsFirst {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        self.queue.take(limit, now, lease).await
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        self.queue.finish(ticket).await
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        self.queue.retry_at(ticket, at).await
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        self.queue.bury(ticket, reason, now).await
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        self.queue.buried(query).await
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.queue.replay_buried(number).await
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.queue.discard_buried(number).await
    }
}

pub(super) async fn others_go_first() {
    let mut gone = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut gone, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

async fn from_a_thread() {
    let done = Arc::new(Mutex::new(false));
    poll_fn(|context| {
        if *done.lock().unwrap() {
            return Poll::Ready(());
        }
        let (done, waker) = (done.clone(), context.waker().clone());
        thread::spawn(move || {
            *done.lock().unwrap() = true;
            waker.wake();
        });
        Poll::Pending
    })
    .await;
}
