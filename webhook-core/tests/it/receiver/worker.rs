//! Workers: outcomes of events whose work succeeded, failed or crashed the worker.

use std::{
    future::{Ready, ready},
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use webhook_core::{
    memory::MemoryInbox,
    ports::{Clock, StoreErrorKind},
    receiver::{
        BodyDigest, BuriedQuery, Claim, Dedupe, EventKey, Fenced, Finish, Inbox, Incoming, Queued, Receipt,
        Ticket, WorkFailure, WorkOutcome, WorkPolicy, Worker,
    },
};

const LEASE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_secs(4);
const ATTEMPTS: u32 = 3;

struct Fixture {
    inbox: Arc<MemoryInbox>,
    clock: ManualClock,
    worker: Worker,
}

impl Fixture {
    /// An inbox with the event `evt_1`.
    async fn new() -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let inbox = Arc::new(MemoryInbox::default());
        let worker = Worker::new(Arc::clone(&inbox), clock.clone(), SeededEntropy::new(7))
            .with_lease(LEASE)
            .with_policy(WorkPolicy::new(PAUSE, PAUSE, ATTEMPTS));
        let fixture = Self { inbox, clock, worker };
        fixture.enqueue("evt_1").await;
        fixture
    }

    async fn enqueue(&self, id: &str) {
        let body = Bytes::from_static(b"{}");
        let key = EventKey {
            source: "s".to_owned(),
            id: id.parse().unwrap(),
        };
        let event = Incoming {
            key,
            digest: BodyDigest::compute(&body),
            body,
            expires_at: self.clock.now() + LEASE * 100,
        };
        let claimed = self.inbox.claim_and_enqueue(event, self.clock.now()).await;
        assert_eq!(claimed.unwrap(), Claim::Enqueued);
    }

    async fn take(&self) -> Option<Queued> {
        self.worker.take(1).await.unwrap().pop()
    }

    /// Takes the event and runs it with this result of its work.
    async fn run(&self, result: Result<(), WorkFailure>) -> WorkOutcome {
        let event = self.take().await.unwrap();
        self.worker.run(&event, ready(result)).await.unwrap()
    }

    /// Reasons and attempts of the dead letters.
    async fn buried(&self) -> Vec<(String, u32)> {
        let letters = self.inbox.buried(&BuriedQuery::default()).await.unwrap();
        let letters = letters.into_iter();
        letters.map(|letter| (letter.reason, letter.attempts)).collect()
    }
}

fn temporary() -> Result<(), WorkFailure> {
    Err(WorkFailure::Temporary("no connection".to_owned()))
}

fn buried(reason: &str) -> WorkOutcome {
    WorkOutcome::Buried {
        reason: reason.to_owned(),
    }
}

/// The receipt of a transaction that removed the event.
fn receipt(event: &Queued) -> Ready<Result<Receipt, WorkFailure>> {
    ready(event.ticket.receipt(Finish::Done).map_err(WorkFailure::from))
}

/// W26: an event leaves the queue after its work.
#[tokio::test]
async fn handled_event_leaves_the_queue() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.run(Ok(())).await, WorkOutcome::Done);
    fixture.clock.advance(LEASE);
    assert_eq!(fixture.take().await, None);
}

/// W26: failed work is retried after its pause, and buried after the last attempt.
#[tokio::test]
async fn failed_work_is_retried_then_buried() {
    let fixture = Fixture::new().await;
    for _ in 1..ATTEMPTS {
        let WorkOutcome::Retried { at, reason } = fixture.run(temporary()).await else {
            panic!("it is retried");
        };
        assert_eq!(reason, "no connection");
        let pause = at.duration_since(fixture.clock.now()).unwrap();
        assert!(PAUSE / 2 <= pause && pause <= PAUSE, "{pause:?}");
        assert_eq!(fixture.take().await, None, "it waits");
        fixture.clock.set(at);
    }
    assert_eq!(fixture.run(temporary()).await, buried("no connection"));
    assert_eq!(fixture.buried().await, [("no connection".to_owned(), ATTEMPTS)]);
}

/// W26: an event that can never be handled is buried at once.
#[tokio::test]
async fn permanent_failure_is_buried_at_once() {
    let fixture = Fixture::new().await;
    let failure = WorkFailure::Permanent("not an envelope".to_owned());
    assert_eq!(fixture.run(Err(failure)).await, buried("not an envelope"));
    assert_eq!(fixture.buried().await, [("not an envelope".to_owned(), 1)]);
}

/// W26: an event whose workers crashed at each attempt is buried before its work runs again.
#[tokio::test]
async fn event_that_crashes_workers_is_buried() {
    let fixture = Fixture::new().await;
    for _ in 0..ATTEMPTS {
        drop(fixture.take().await.unwrap());
        fixture.clock.advance(LEASE);
    }
    let event = fixture.take().await.unwrap();
    let work = async { panic!("the work runs") };
    let outcome = fixture.worker.run(&event, work).await.unwrap();
    let reason = "3 attempts crashed or outlived their leases";
    assert_eq!(outcome, buried(reason));
    assert_eq!(fixture.buried().await, [(reason.to_owned(), ATTEMPTS + 1)]);

    fixture.enqueue("evt_2").await;
    let mut event = fixture.take().await.unwrap();
    event.attempt = ATTEMPTS + 1;
    let work = async { panic!("the work runs") };
    let outcome = fixture.worker.run_in_transaction(&event, work).await.unwrap();
    assert_eq!(outcome, buried(reason));
}

/// W26: a worker whose lease another worker has taken changes nothing.
#[tokio::test]
async fn worker_with_lost_lease_changes_nothing() {
    let fixture = Fixture::new().await;
    let slow = fixture.take().await.unwrap();
    fixture.clock.advance(LEASE);
    let other = fixture.take().await.unwrap();
    for result in [
        Ok(()),
        temporary(),
        Err(WorkFailure::Permanent("bad".to_owned())),
        Err(Fenced.into()),
    ] {
        let outcome = fixture.worker.run(&slow, ready(result)).await;
        assert_eq!(outcome.unwrap(), WorkOutcome::Stale);
    }
    let outcome = fixture.worker.run(&other, ready(Ok(()))).await;
    assert_eq!(outcome.unwrap(), WorkOutcome::Done);
    assert_eq!(fixture.buried().await, []);
}

/// H23: the worker does not acknowledge an event after a receipt. It refuses the receipt of another
/// event.
#[tokio::test]
async fn worker_with_receipt_does_not_acknowledge() {
    let fixture = Fixture::new().await;
    fixture.enqueue("evt_2").await;
    let (first, second) = (fixture.take().await.unwrap(), fixture.take().await.unwrap());
    let outcome = fixture.worker.run_in_transaction(&first, receipt(&first)).await;
    assert_eq!(outcome.unwrap(), WorkOutcome::Done);
    let foreign = fixture.worker.run_in_transaction(&second, receipt(&first)).await;
    assert_eq!(foreign.unwrap_err().kind(), StoreErrorKind::Corrupt);
    fixture.clock.advance(LEASE);
    // neither the test nor the worker has removed an event
    for event in [first, second] {
        assert_eq!(
            fixture.take().await.map(|taken| taken.ticket.key),
            Some(event.ticket.key)
        );
    }
}

/// H23: only a transaction that removed the event gives a receipt.
#[test]
fn stale_removal_gives_no_receipt() {
    let key = EventKey {
        source: "s".to_owned(),
        id: "evt_1".parse().unwrap(),
    };
    let ticket = Ticket { key, lease: 1 };
    assert!(matches!(ticket.receipt(Finish::Stale), Err(Fenced)));
    assert!(ticket.receipt(Finish::Done).is_ok());
    assert!(matches!(WorkFailure::from(Fenced), WorkFailure::Temporary(_)));
}
