//! Subscriptions of endpoints.

use http::StatusCode;
use webhook_core::sender::{
    DeliveryFilter, DeliveryPolicy, DeliveryState, Disposition, EndpointState, EndpointStore, Enqueued,
    EventFilter, FailureReason, Outbox, ReplayRequest, fan_out,
};

use super::fixture::{Fixture, answer, delivery_id, endpoint, event, start};

/// W16: an event goes to all endpoints that subscribe to its type, and to no others.
#[tokio::test]
async fn event_goes_to_subscribers_of_its_type() {
    let fixture = Fixture::scripted((0..2).map(|_| answer(StatusCode::OK)));
    let wanted = EventFilter::only(["charge.refunded".parse().unwrap()]);
    let other = EventFilter::only([
        "charge.refunded.twice".parse().unwrap(),
        "charge".parse().unwrap(),
    ]);
    for endpoint in [
        endpoint("ep_all"),
        endpoint("ep_refunds").with_events(wanted),
        endpoint("ep_others").with_events(other),
    ] {
        fixture.endpoints.insert(endpoint).await.unwrap();
    }
    fixture.send("evt_1").await;
    let mut handled: Vec<_> = fixture
        .run()
        .await
        .handled
        .into_iter()
        .map(|handled| handled.delivery)
        .collect();
    handled.sort();
    assert_eq!(
        handled,
        [delivery_id("evt_1", "ep_all"), delivery_id("evt_1", "ep_refunds")]
    );
}

/// W15: an event that a producer sends twice is delivered once.
#[tokio::test]
async fn an_event_sent_twice_is_delivered_once() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)])
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    assert_eq!(
        fixture.dispatcher.send(event("evt_1")).await.unwrap(),
        Enqueued::Duplicate
    );
    fixture.run().await;
    assert_eq!(
        fixture.dispatcher.send(event("evt_1")).await.unwrap(),
        Enqueued::Duplicate
    );
    assert!(fixture.run().await.handled.is_empty());
}

/// W16: a paused endpoint keeps its deliveries, without a request or an attempt, until it is
/// enabled.
#[tokio::test]
async fn a_paused_endpoint_gets_its_events_when_it_is_enabled() {
    let fixture = Fixture::scripted((0..2).map(|_| answer(StatusCode::OK)));
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    let id = "ep_1".parse().unwrap();
    fixture
        .endpoints
        .set_state(&id, EndpointState::Paused)
        .await
        .unwrap();
    fixture.send("evt_1").await;
    fixture.send("evt_2").await;
    let mut report = fixture.run().await;
    for _ in 0..60 {
        report = fixture.run_at(report.next_due).await;
    }
    assert!(fixture.transport.requests().is_empty());
    assert_eq!(fixture.load(&delivery_id("evt_1", "ep_1")).await.attempts, 0);

    fixture
        .endpoints
        .set_state(&id, EndpointState::Enabled)
        .await
        .unwrap();
    let report = fixture.run_at(report.next_due).await;
    assert_eq!((report.handled.len(), report.next_due), (2, None));
    assert_eq!(
        fixture.load(&delivery_id("evt_1", "ep_1")).await.state,
        DeliveryState::Acked
    );
}

/// W16: a delivery that waited beyond its lifetime is not sent, but kept for a replay.
#[tokio::test]
async fn a_pause_longer_than_the_lifetime_ends_in_dead_letters() {
    let fixture = Fixture::scripted([]).with_endpoints(&["ep_1"]).await;
    let id = "ep_1".parse().unwrap();
    fixture
        .endpoints
        .set_state(&id, EndpointState::Paused)
        .await
        .unwrap();
    fixture.send("evt_1").await;
    fixture.clock.advance(DeliveryPolicy::default().lifetime());
    let report = fixture.run().await;
    assert!(matches!(report.handled[0].disposition, Disposition::Held { .. }));
    fixture
        .endpoints
        .set_state(&id, EndpointState::Enabled)
        .await
        .unwrap();
    let report = fixture.run_at(report.next_due).await;
    assert_eq!(
        report.handled[0].disposition,
        Disposition::Failed(FailureReason::LifetimeExpired)
    );
    assert!(fixture.transport.requests().is_empty());
}

/// W16: waiting deliveries of a disabled endpoint fail unsent, and can be replayed after it is
/// enabled.
#[tokio::test]
async fn disabling_endpoint_fails_waiting_deliveries() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)])
        .with_endpoints(&["ep_1"])
        .await;
    let id = "ep_1".parse().unwrap();
    fixture.send("evt_1").await;
    fixture
        .endpoints
        .set_state(&id, EndpointState::Disabled)
        .await
        .unwrap();
    let report = fixture.run().await;
    assert_eq!(report.handled[0].outcome, None);
    assert_eq!(
        report.handled[0].disposition,
        Disposition::Failed(FailureReason::EndpointDisabled)
    );
    fixture
        .endpoints
        .set_state(&id, EndpointState::Enabled)
        .await
        .unwrap();
    let request = ReplayRequest {
        filter: DeliveryFilter::failed(),
        acknowledged: false,
        after: None,
        limit: usize::MAX,
        now: fixture.now(),
        dry_run: false,
    };
    assert_eq!(fixture.outbox.replay(&request).await.unwrap().count, 1);
    fixture.run().await;
    assert_eq!(
        fixture.load(&delivery_id("evt_1", "ep_1")).await.state,
        DeliveryState::Acked
    );
}

/// W16: a delivery whose endpoint was removed is kept as a failure.
#[tokio::test]
async fn a_delivery_without_its_endpoint_fails() {
    let fixture = Fixture::scripted([]);
    let enqueue = fan_out(event("evt_1"), &[endpoint("ep_gone")], start());
    fixture.outbox.enqueue(enqueue).await.unwrap();
    let report = fixture.run().await;
    assert_eq!(
        report.handled[0].disposition,
        Disposition::Failed(FailureReason::EndpointUnknown)
    );
}
