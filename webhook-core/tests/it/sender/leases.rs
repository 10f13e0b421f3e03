//! Crashes, lost leases and slow receivers.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response, StatusCode};
use webhook_core::{
    memory::MemoryInbox,
    ports::{Clock, TransportError},
    receiver::{Inbox, Receiver, Verifier},
    sender::{DeliveryFilter, DeliveryState, Dispatcher, Outbox, Page, Settled},
};

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer, delivery_id, secret, start},
};

/// Deadline and margin of a lease.
const LEASE: Duration = Duration::from_secs(40);

/// Polls once.
fn is_pending(future: Pin<&mut impl Future>) -> bool {
    future.now_or_never().is_none()
}

/// W15: a dispatcher that crashes after the lease, or during the request, costs a repeated attempt
/// and no event.
#[tokio::test]
async fn crashed_dispatcher_costs_one_attempt() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    assert!(
        fixture.dispatcher.run_due().now_or_never().is_none(),
        "dropped with its exchange under way"
    );
    assert_eq!(fixture.transport.hosts().len(), 1);

    fixture.clock.advance(LEASE - Duration::from_millis(1));
    let report = fixture.run().await;
    assert_eq!(
        (report.handled.len(), report.next_due),
        (0, Some(start() + LEASE))
    );
    fixture.clock.set(start() + LEASE);
    let mut round = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(round.as_mut()));
    fixture.transport.answer(1, answer(StatusCode::OK));
    assert_eq!(round.await.unwrap().handled.len(), 1);
    let delivery = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!((delivery.state, delivery.fence), (DeliveryState::Acked, 2));
}

/// W15: a late 2xx settles the delivery although another dispatcher holds it, whose failure then
/// does not count.
#[tokio::test]
async fn a_late_2xx_settles_a_live_delivery() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    let mut slow = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(slow.as_mut()));
    fixture.clock.advance(LEASE);
    let mut second = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(second.as_mut()));

    fixture.transport.answer(0, answer(StatusCode::OK));
    assert_eq!(slow.await.unwrap().handled[0].settled, Settled::Late);
    fixture
        .transport
        .answer(1, answer(StatusCode::INTERNAL_SERVER_ERROR));
    assert_eq!(second.await.unwrap().handled[0].settled, Settled::Stale);
    let id = delivery_id("evt_1", "ep_1");
    assert_eq!(fixture.load(&id).await.state, DeliveryState::Acked);
    assert_eq!(fixture.outbox.attempts(&id).await.unwrap().len(), 2);
}

/// W15: a late failure changes nothing for the dispatcher that holds the delivery.
#[tokio::test]
async fn a_late_failure_is_refused_by_its_fence() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    let mut slow = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(slow.as_mut()));
    fixture.clock.advance(LEASE);
    let mut second = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(second.as_mut()));

    fixture.transport.answer(0, answer(StatusCode::NOT_FOUND));
    assert_eq!(slow.await.unwrap().handled[0].settled, Settled::Stale);
    assert_eq!(
        fixture.load(&delivery_id("evt_1", "ep_1")).await.state,
        DeliveryState::Leased
    );
    fixture.transport.answer(1, answer(StatusCode::OK));
    assert_eq!(second.await.unwrap().handled[0].settled, Settled::Applied);
}

/// W15: with any deadline of the host no other dispatcher sends the delivery during the exchange.
#[tokio::test]
async fn endless_deadline_still_has_a_lease() {
    let mut fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.dispatcher = fixture.dispatcher.with_deadline(Duration::MAX);
    fixture.send("evt_1").await;
    let mut round = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(round.as_mut()));
    fixture.clock.advance(Duration::from_secs(60 * 60));
    assert_eq!(fixture.run().await.handled, []);
    assert_eq!(fixture.transport.hosts().len(), 1);
}

/// W17: while one receiver hangs, the outcomes of others are written, and their next events are
/// sent.
#[tokio::test]
async fn slow_endpoint_does_not_delay_other_outcomes() {
    let fixture = Fixture::over(HangingTransport::default());
    let fixture = fixture.with_endpoints(&["ep_slow", "ep_quick"]).await;
    for n in 0..10 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let mut round = pin!(fixture.dispatcher.run_due());
    let mut answered = 0;
    for _ in 0..10 {
        assert!(is_pending(round.as_mut()));
        let hosts = fixture.transport.hosts();
        for (index, host) in hosts.iter().enumerate().skip(answered) {
            if host.starts_with("ep-quick") {
                fixture.transport.answer(index, answer(StatusCode::OK));
            }
        }
        answered = hosts.len();
    }
    assert!(is_pending(round.as_mut()));
    let acked = DeliveryFilter::in_states([DeliveryState::Acked]).with_endpoint("ep_quick".parse().unwrap());
    assert_eq!(
        fixture.outbox.list(&acked, &Page::default()).await.unwrap().len(),
        10
    );
    let slow = fixture
        .transport
        .hosts()
        .iter()
        .filter(|host| host.starts_with("ep-slow"))
        .count();
    assert_eq!(slow, 4, "a hung endpoint holds no more than its share");
}

/// W15: a receiver detects the duplicate after a lost response.
#[tokio::test]
async fn a_lost_answer_is_delivered_again_and_processed_once() {
    let clock = ManualClock::new(start());
    let inbox = Arc::new(MemoryInbox::default());
    let verifier = Verifier::standard_webhooks(secret(1));
    let receiver = Receiver::builder("desk", verifier, inbox.clone(), clock.clone())
        .build()
        .unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let transport = move |request: Request<Bytes>| {
        let (receiver, call) = (receiver.clone(), counted.fetch_add(1, Ordering::Relaxed));
        async move {
            let response: Response<Bytes> = receiver.receive(request).await;
            assert!(response.status().is_success());
            if call == 0 {
                Err(TransportError::timeout())
            } else {
                Ok(response)
            }
        }
    };
    let mut fixture = Fixture::answering(transport).with_endpoints(&["ep_1"]).await;
    fixture.dispatcher = Dispatcher::new(
        fixture.outbox.clone(),
        fixture.endpoints.clone(),
        fixture.transport.clone(),
        clock.clone(),
        fixture.clock.clone(),
        SeededEntropy::new(1),
    );
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    clock.set(report.next_due.unwrap());
    fixture.run().await;
    assert_eq!(
        fixture.load(&delivery_id("evt_1", "ep_1")).await.state,
        DeliveryState::Acked
    );
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let queued = inbox
        .take(10, clock.now(), Duration::from_secs(60))
        .await
        .unwrap();
    assert_eq!(queued.len(), 1);
}

/// W15: an outcome that could not be written is an error, and the event is sent again.
#[tokio::test]
async fn event_of_unwritten_outcome_is_sent_again() {
    let fixture = Fixture::scripted((0..2).map(|_| answer(StatusCode::OK)));
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    let failing = Failing::over(&fixture.outbox);
    failing.broken.store(true, Ordering::Relaxed);
    let dispatcher = fixture.dispatcher_over(failing.clone());
    fixture.send("evt_1").await;
    dispatcher.run_due().await.unwrap_err();
    failing.broken.store(false, Ordering::Relaxed);
    fixture.clock.advance(LEASE);
    assert_eq!(
        dispatcher.run_due().await.unwrap().handled[0].settled,
        Settled::Applied
    );
    assert_eq!(fixture.transport.requests().len(), 2);
}

/// W15: concurrent dispatchers share the deliveries and send each once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn dispatchers_at_the_same_time_send_each_delivery_once() {
    let fixture = Fixture::scripted((0..400).map(|_| answer(StatusCode::OK)));
    let fixture = fixture.with_endpoints(&["ep_1", "ep_2", "ep_3", "ep_4"]).await;
    for n in 0..100 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let rounds: Vec<_> = (0..8)
        .map(|_| {
            let dispatcher = fixture.dispatcher.clone();
            tokio::spawn(async move { dispatcher.run_due().await.unwrap().handled.len() })
        })
        .collect();
    let mut handled = 0;
    for round in rounds {
        handled += round.await.unwrap();
    }
    handled += fixture.run().await.handled.len();
    assert_eq!((handled, fixture.transport.requests().len()), (400, 400));
}

/// W17: a dispatcher that finds all leases of an endpoint taken waits before its next try.
#[tokio::test]
async fn dispatcher_waits_while_others_hold_all_leases() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    for n in 0..5 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let mut first = pin!(fixture.dispatcher.run_due());
    assert!(is_pending(first.as_mut()));
    assert_eq!(fixture.transport.hosts().len(), 4);
    let report = fixture.run().await;
    assert!(report.handled.is_empty());
    assert_eq!(report.next_due, Some(start() + Duration::from_millis(250)));
}

/// W17: a round is bounded, and reports that more is due.
#[tokio::test]
async fn a_long_round_ends_and_asks_to_be_called_again() {
    let fixture = Fixture::scripted((0..1_100).map(|_| answer(StatusCode::OK)));
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    for n in 0..1_100 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let report = fixture.run().await;
    assert!((1_024..1_100).contains(&report.handled.len()));
    assert_eq!(report.next_due, Some(start()));
    assert_eq!(report.handled.len() + fixture.run().await.handled.len(), 1_100);
}

/// A dispatcher can be shared and moved between threads, as a host's tasks need.
#[test]
fn dispatcher_can_be_shared_between_threads() {
    fn is_handle<T: Clone + Send + Sync + 'static>() {}
    is_handle::<Dispatcher>();
}
