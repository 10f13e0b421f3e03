//! Panics of the host's ports.

use std::{pin::pin, sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode};
use webhook_core::{
    ports::TransportErrorKind,
    sender::{
        AttemptClass, AttemptResult, DeliveryEvent, DeliveryMetrics, DeliveryPolicy, DeliveryState,
        FailureReason, Outbox, Schedule,
    },
};

use super::{
    fixture::{Fixture, answer, delivery_id},
    host::{Host, proceed},
};

/// W15: a panic of the transport costs its delivery an attempt, and no other exchange.
#[tokio::test]
async fn a_panic_of_the_transport_is_a_failed_attempt() {
    let transport = |request: Request<Bytes>| async move {
        assert!(
            request.uri().host() != Some("ep-bad.example.com"),
            "a bug of the host"
        );
        answer(StatusCode::OK)
    };
    let fixture = Fixture::answering(transport)
        .with_endpoints(&["ep_bad", "ep_good"])
        .await;
    fixture.send("evt_1").await;
    assert_eq!(fixture.run().await.handled.len(), 2);
    let good = fixture.load(&delivery_id("evt_1", "ep_good")).await;
    assert_eq!(good.state, DeliveryState::Acked);
    let bad = delivery_id("evt_1", "ep_bad");
    let stored = fixture.load(&bad).await;
    assert_eq!(
        (stored.state, stored.attempts),
        (DeliveryState::RetryScheduled, 1)
    );
    let log = fixture.outbox.attempts(&bad).await.unwrap();
    let AttemptResult::Failed { kind, message } = &log[0].result else {
        panic!("it failed")
    };
    assert_eq!(*kind, TransportErrorKind::Other);
    assert!(message.contains("a bug of the host"), "{message}");
}

/// W15: a panic of the host's classification costs its delivery an attempt each time. The event is
/// sent as often as its schedule says, and is a dead letter then.
#[tokio::test]
async fn panic_of_the_classification_is_a_spent_attempt() {
    let fixture = Fixture::answering(async |_| answer(StatusCode::OK))
        .with_endpoints(&["ep_1"])
        .await;
    let schedule = Schedule::new([Duration::from_secs(10)]).unwrap();
    let policy = DeliveryPolicy::new(schedule);
    let policy = policy.with_classification(|_| -> AttemptClass { panic!("a bug of the host") });
    let dispatcher = fixture.dispatcher.clone().with_policy(policy);
    fixture.send("evt_1").await;
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    let id = delivery_id("evt_1", "ep_1");
    proceed(&mut run).await;
    let row = fixture.load(&id).await;
    assert_eq!((row.state, row.fence), (DeliveryState::RetryScheduled, 1));
    for _ in 0..60 {
        fixture.clock.advance(Duration::from_secs(1));
        host.wake.notify_one();
        proceed(&mut run).await;
    }
    let row = fixture.load(&id).await;
    assert_eq!(
        (row.state, row.reason, row.fence),
        (
            DeliveryState::DeadLetter,
            Some(FailureReason::AttemptsExhausted),
            2
        )
    );
    assert_eq!(host.errors.load(Ordering::Relaxed), 2, "each panic is reported");
}

/// W34: a panic of the metrics hook has no effect on deliveries.
#[tokio::test]
async fn panic_of_the_metrics_is_caught() {
    let fixture = Fixture::answering(async |_| answer(StatusCode::OK))
        .with_endpoints(&["ep_1"])
        .await;
    let dispatcher = fixture.dispatcher.clone().with_metrics(PanickingMetrics);
    fixture.send("evt_1").await;
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    let row = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!((row.state, row.attempts), (DeliveryState::Acked, 1));
    assert_eq!(host.errors.load(Ordering::Relaxed), 0);
}

struct PanickingMetrics;

impl DeliveryMetrics for PanickingMetrics {
    fn record(&self, _: &DeliveryEvent<'_>) {
        panic!("a bug of the host");
    }
}
