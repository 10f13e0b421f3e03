//! Outcomes that the outbox cannot write.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use http::StatusCode;
use webhook_core::sender::{DeliveryState, Dispatcher, Outbox};

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer, delivery_id, start},
    host::{Host, proceed},
};

/// Deadline and margin of a lease.
const LEASE: Duration = Duration::from_secs(40);

const ENDPOINTS: [&str; 6] = ["ep_0", "ep_1", "ep_2", "ep_3", "ep_4", "ep_5"];

type Hanging = Fixture<HangingTransport>;

/// One event for six endpoints, over an outbox that may fail.
async fn sent() -> (Hanging, Arc<Failing>, Dispatcher) {
    let fixture = Fixture::over(HangingTransport::default());
    let fixture = fixture.with_endpoints(&ENDPOINTS).await;
    let failing = Failing::over(&fixture.outbox);
    let dispatcher = fixture.dispatcher_over(failing.clone());
    fixture.send("evt_1").await;
    (fixture, failing, dispatcher)
}

fn acknowledge_all(fixture: &Hanging) {
    for index in 0..fixture.transport.hosts().len() {
        if !fixture.transport.has_heard(index) {
            fixture.transport.answer(index, answer(StatusCode::OK));
        }
    }
}

async fn acked(fixture: &Hanging) -> usize {
    let mut count = 0;
    for endpoint in ENDPOINTS {
        let delivery = fixture.load(&delivery_id("evt_1", endpoint)).await;
        count += usize::from(delivery.state == DeliveryState::Acked);
    }
    count
}

/// W15: of outcomes that arrive together, only the one that cannot be written is sent again, and
/// not even that one if a later write succeeds.
#[tokio::test]
async fn unwritable_outcome_does_not_affect_others() {
    let (fixture, failing, dispatcher) = sent().await;
    *failing.bad_row.lock().unwrap() = Some(delivery_id("evt_1", "ep_2"));
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    acknowledge_all(&fixture);
    proceed(&mut run).await;
    assert_eq!((acked(&fixture).await, host.handled().len()), (5, 5));
    assert_eq!(*failing.batches.lock().unwrap(), [1; 5]);
    let again = start() + Duration::from_millis(250);
    assert_eq!(host.next_due(), Some(again));

    *failing.bad_row.lock().unwrap() = None;
    fixture.clock.set(again);
    host.wake.notify_one();
    proceed(&mut run).await;
    assert_eq!((acked(&fixture).await, host.next_due()), (6, None));
    assert_eq!(fixture.transport.hosts().len(), 6);
}

/// W15: during an outage of the store outcomes are kept, the store is not called for each of them,
/// and they are written after the outage.
#[tokio::test]
async fn outcomes_outlast_a_store_that_is_down() {
    let (fixture, failing, dispatcher) = sent().await;
    failing.broken.store(true, Ordering::Relaxed);
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    acknowledge_all(&fixture);
    proceed(&mut run).await;
    assert_eq!(
        failing.failures.load(Ordering::Relaxed),
        3,
        "the batch and two of it"
    );
    for again in 1..=8 {
        fixture.clock.set(host.next_due().unwrap());
        host.wake.notify_one();
        proceed(&mut run).await;
        assert_eq!(failing.failures.load(Ordering::Relaxed), 3 + 2 * again);
    }
    assert!(fixture.now() < start() + LEASE);
    failing.broken.store(false, Ordering::Relaxed);
    fixture.clock.set(host.next_due().unwrap());
    host.wake.notify_one();
    proceed(&mut run).await;
    assert_eq!((acked(&fixture).await, host.handled().len()), (6, 6));
    assert_eq!(fixture.transport.hosts().len(), 6);
}

/// W15: an outcome that could not be written by the end of its lease is dropped, and sent again.
#[tokio::test]
async fn an_outcome_is_kept_as_long_as_its_lease() {
    let (fixture, failing, dispatcher) = sent().await;
    failing.broken.store(true, Ordering::Relaxed);
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    acknowledge_all(&fixture);
    proceed(&mut run).await;
    fixture.clock.set(start() + LEASE);
    failing.broken.store(false, Ordering::Relaxed);
    host.wake.notify_one();
    proceed(&mut run).await;
    assert_eq!((acked(&fixture).await, fixture.transport.hosts().len()), (0, 12));
    acknowledge_all(&fixture);
    proceed(&mut run).await;
    assert_eq!(acked(&fixture).await, 6);
}

/// W15: an unwritten outcome keeps its place: the dispatcher sends no more than it can keep
/// outcomes.
#[tokio::test]
async fn unwritten_outcomes_occupy_places() {
    let (fixture, failing, dispatcher) = sent().await;
    failing.broken.store(true, Ordering::Relaxed);
    let dispatcher = dispatcher.with_concurrency(4);
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    for _ in 0..4 {
        acknowledge_all(&fixture);
        proceed(&mut run).await;
        fixture.clock.set(host.next_due().unwrap());
        host.wake.notify_one();
        proceed(&mut run).await;
    }
    assert_eq!(fixture.transport.hosts().len(), 2);
    failing.broken.store(false, Ordering::Relaxed);
    fixture.clock.set(host.next_due().unwrap());
    host.wake.notify_one();
    proceed(&mut run).await;
    // half of the places serve endpoints that have not answered yet
    assert_eq!((acked(&fixture).await, fixture.transport.hosts().len()), (2, 4));
}

/// W15: a stopped dispatcher writes once more, without waiting for a pause.
#[tokio::test]
async fn stop_writes_unwritten_outcomes() {
    let (fixture, failing, dispatcher) = sent().await;
    failing.broken.store(true, Ordering::Relaxed);
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    acknowledge_all(&fixture);
    proceed(&mut run).await;
    failing.broken.store(false, Ordering::Relaxed);
    host.stop();
    run.await;
    assert_eq!((acked(&fixture).await, host.handled().len()), (6, 6));
}

/// W15: a single pass also writes all outcomes that it can, and returns the error.
#[tokio::test]
async fn run_due_writes_all_writable_outcomes() {
    let fixture = Fixture::scripted((0..6).map(|_| answer(StatusCode::OK)));
    let fixture = fixture.with_endpoints(&ENDPOINTS).await;
    let failing = Failing::over(&fixture.outbox);
    *failing.bad_row.lock().unwrap() = Some(delivery_id("evt_1", "ep_2"));
    fixture.send("evt_1").await;
    fixture
        .dispatcher_over(failing.clone())
        .run_due()
        .await
        .unwrap_err();
    for endpoint in ENDPOINTS {
        let delivery = fixture.load(&delivery_id("evt_1", endpoint)).await;
        let expected = if endpoint == "ep_2" {
            DeliveryState::Leased
        } else {
            DeliveryState::Acked
        };
        assert_eq!(delivery.state, expected, "{endpoint}");
    }
    let log = fixture.outbox.attempts(&delivery_id("evt_1", "ep_3")).await;
    assert_eq!(log.unwrap().len(), 1);
}
