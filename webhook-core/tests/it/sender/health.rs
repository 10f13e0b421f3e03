//! How an endpoint does, as the host sees it, and what is set aside.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::FutureExt;
use http::StatusCode;
use webhook_core::{
    sender::{
        DeliveryState, Dispatcher, Disposition, EndpointState, EndpointStore, FailureReason, HealthEvent,
    },
    testing::SeededEntropy,
};

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer, delivery_id, start},
};

/// W17: an endpoint that keeps failing is left alone, what waits for it spends no attempt, and one answer lets all go out.
#[tokio::test]
async fn a_breaker_spares_the_attempts_of_what_waits() {
    let failures = (0..5).map(|_| answer(StatusCode::BAD_GATEWAY));
    let script = failures.chain((0..10).map(|_| answer(StatusCode::OK)));
    let mut fixture = Fixture::scripted(script).with_endpoints(&["ep_1"]).await;
    fixture.dispatcher = fixture.dispatcher.with_concurrency_per_endpoint(1);
    for n in 1..=7 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let report = fixture.run().await;
    let until = start() + Duration::from_secs(60);
    let health: Vec<_> = report.handled.iter().map(|handled| handled.health).collect();
    let opened = Some(HealthEvent::BreakerOpened { until });
    assert_eq!(health, [None, None, None, None, opened]);
    assert_eq!(report.next_due, Some(until));
    for waiting in ["evt_6", "evt_7"] {
        let delivery = fixture.load(&delivery_id(waiting, "ep_1")).await;
        assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Ready, 0));
    }

    let report = fixture.run_at(report.next_due).await;
    assert_eq!(report.handled[0].health, Some(HealthEvent::BreakerClosed));
    assert!(report.handled[1..].iter().all(|handled| handled.health.is_none()));
    for sent in ["evt_6", "evt_7"] {
        assert_eq!(
            fixture.load(&delivery_id(sent, "ep_1")).await.state,
            DeliveryState::Acked
        );
    }
}

/// W16: an endpoint that has failed for five days is disabled, the host is told, and may enable it again.
#[tokio::test]
async fn an_endpoint_that_fails_for_five_days_is_disabled() {
    let fixture = Fixture::over(|_| async { answer(StatusCode::NOT_FOUND) });
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    let id = "ep_1".parse().unwrap();
    let state = async || fixture.endpoints.load(&id).await.unwrap().unwrap().state;
    for hour in 0..120_u32 {
        fixture.clock.set(start() + hour * Duration::from_secs(60 * 60));
        fixture.send(&format!("evt_{hour}")).await;
        assert!(!fixture.run().await.handled[0].endpoint_disabled, "{hour}");
    }
    assert_eq!(state().await, EndpointState::Enabled);
    fixture.clock.advance(Duration::from_secs(60 * 60));
    fixture.send("evt_120").await;
    let report = fixture.run().await;
    let failing_since = start();
    assert_eq!(
        report.handled[0].health,
        Some(HealthEvent::Disabled { failing_since })
    );
    assert!(report.handled[0].endpoint_disabled);
    assert_eq!(state().await, EndpointState::Disabled);

    fixture
        .endpoints
        .set_state(&id, EndpointState::Enabled)
        .await
        .unwrap();
    fixture.send("evt_121").await;
    assert_eq!(fixture.run().await.handled[0].health, None, "its days start anew");
}

/// W15: a delivery that takes one dispatcher after the other with it is set aside, and the host is told.
#[tokio::test]
async fn what_crashes_its_dispatchers_is_set_aside() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    for _ in 0..5 {
        assert!(fixture.dispatcher.run_due().now_or_never().is_none());
        fixture.clock.advance(Duration::from_secs(40));
    }
    let report = fixture.run().await;
    let [handled] = report.handled.as_slice() else {
        panic!("one was set aside")
    };
    assert_eq!(handled.delivery, delivery_id("evt_1", "ep_1"));
    assert_eq!(handled.outcome, None);
    assert_eq!(
        handled.disposition,
        Disposition::Failed(FailureReason::Quarantined)
    );
    assert_eq!((fixture.transport.hosts().len(), report.next_due), (5, None));
}

/// W15: outcomes that come together are written in one step, and one that comes alone waits for no other.
#[tokio::test]
async fn outcomes_that_come_together_are_written_together() {
    let endpoints: Vec<String> = (0..16).map(|n| format!("ep_{n}")).collect();
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    let fixture = Fixture::over(HangingTransport::default());
    let fixture = fixture.with_endpoints(&endpoints).await;
    let counting = Arc::new(Failing {
        outbox: fixture.outbox.clone(),
        ..Failing::default()
    });
    let dispatcher = Dispatcher::new(
        counting.clone(),
        fixture.endpoints.clone(),
        Arc::new(fixture.transport.clone()),
        fixture.clock.clone(),
        SeededEntropy::new(1),
    );
    for n in 0..4 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let mut round = pin!(dispatcher.run_due());
    assert!(round.as_mut().now_or_never().is_none());
    assert_eq!(fixture.transport.hosts().len(), 64);
    fixture.transport.answer(0, answer(StatusCode::OK));
    assert!(round.as_mut().now_or_never().is_none());
    assert_eq!(*counting.batches.lock().unwrap(), [1]);
    for index in 1..64 {
        fixture.transport.answer(index, answer(StatusCode::OK));
    }
    assert_eq!(round.await.unwrap().handled.len(), 64);
    let batches = counting.batches.lock().unwrap();
    assert_eq!(batches.iter().sum::<usize>(), 64);
    assert!(batches.len() <= 3, "{batches:?}");
}
