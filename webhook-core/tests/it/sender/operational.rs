//! Operational events as webhooks to the endpoints of the operator.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use webhook_core::sender::{
    Audience, DeliveryFilter, Endpoint, EndpointStore, Enqueued, OperationalEvent, Outbox, Owner, Page,
    StoredEvent,
};

use super::fixture::{Fixture, answer, endpoint, envelope, start};

/// Two tenants' endpoints whose receivers respond with this status, and one of the operator.
async fn fixture(status: u16) -> Fixture<impl webhook_core::ports::Transport + Clone + 'static> {
    let mut fixture = Fixture::answering(move |request: Request<Bytes>| {
        let is_operators = request.uri().host() == Some("ep-o.example.com");
        let status = if is_operators { 200 } else { status };
        async move { answer(StatusCode::from_u16(status).unwrap()) }
    });
    fixture.dispatcher = fixture.dispatcher.with_operational_events();
    for id in ["ep_1", "ep_2"] {
        fixture.endpoints.insert(endpoint(id)).await.unwrap();
    }
    let operators = Endpoint {
        owner: Owner::Operator,
        ..endpoint("ep_o")
    };
    fixture.endpoints.insert(operators).await.unwrap();
    fixture
}

/// Deliveries to the operator's endpoint.
async fn announced<T>(fixture: &Fixture<T>) -> usize {
    let filter = DeliveryFilter::default().with_endpoint("ep_o".parse().unwrap());
    fixture
        .outbox
        .list(&filter, &Page::default())
        .await
        .unwrap()
        .len()
}

/// W34: the operator gets an event when an endpoint fails, and the tenants get none.
#[tokio::test]
async fn failing_endpoint_is_announced_to_the_operator() {
    let fixture = fixture(500).await;
    for number in 0..5 {
        let acme = Audience::tenant("acme".parse().unwrap());
        let event = StoredEvent::new(envelope(&format!("evt_{number}")), acme);
        fixture.dispatcher.send(event).await.unwrap();
    }
    fixture.run().await;
    assert_eq!(announced(&fixture).await, 2, "one for each endpoint");
    fixture.clock.advance(Duration::from_secs(70));
    fixture.run().await;
    assert_eq!(announced(&fixture).await, 4, "again after the failed probe");
    for id in ["ep_1", "ep_2"] {
        let filter = DeliveryFilter::default().with_endpoint(id.parse().unwrap());
        let theirs = fixture.outbox.list(&filter, &Page::default()).await.unwrap();
        assert_eq!(theirs.len(), 5, "only events of the tenant");
    }
}

/// W34: an endpoint that responds with 410 is announced as disabled.
#[tokio::test]
async fn disabled_endpoint_is_announced() {
    let fixture = fixture(410).await;
    fixture.send("evt_1").await;
    fixture.run().await;
    assert_eq!(announced(&fixture).await, 2);
}

/// W34: without the option there are no operational events.
#[tokio::test]
async fn operational_events_are_off_by_default() {
    let mut fixture = fixture(410).await;
    fixture.dispatcher = Fixture::over(fixture.transport.clone()).dispatcher;
    fixture.send("evt_1").await;
    fixture.run().await;
    assert_eq!(announced(&fixture).await, 0);
}

/// W34: a failing endpoint of the operator is not announced, so that no event causes the next.
#[tokio::test]
async fn failures_of_the_operators_endpoint_cause_no_events() {
    let mut fixture = Fixture::scripted((0..40).map(|_| answer(StatusCode::BAD_GATEWAY)));
    fixture.dispatcher = fixture.dispatcher.with_operational_events();
    let operators = Endpoint {
        owner: Owner::Operator,
        ..endpoint("ep_o")
    };
    fixture.endpoints.insert(operators).await.unwrap();
    for number in 0..6 {
        let event = StoredEvent::new(envelope(&format!("evt_{number}")), Audience::operator());
        fixture.dispatcher.send(event).await.unwrap();
    }
    for _ in 0..3 {
        fixture.run().await;
        fixture.clock.advance(Duration::from_secs(3_600));
    }
    assert_eq!(announced(&fixture).await, 6);
}

/// W34: types, version and members of each event; the host announces a rotation.
#[tokio::test]
async fn operational_events_have_their_documented_form() {
    let fixture = fixture(200).await;
    let endpoint = "ep_1".parse().unwrap();
    let rotated = OperationalEvent::SecretRotated { endpoint };
    assert_eq!(
        fixture.dispatcher.announce(&rotated).await.unwrap(),
        Enqueued::Enqueued
    );
    assert_eq!(announced(&fixture).await, 1);

    let endpoint = || "ep_1".parse().unwrap();
    for (event, event_type, object) in [
        (rotated, "endpoint.secret_rotated", json!({ "endpoint": "ep_1" })),
        (
            OperationalEvent::EndpointFailing {
                endpoint: endpoint(),
                retry_at: start() + Duration::from_secs(60),
            },
            "endpoint.failing",
            json!({ "endpoint": "ep_1", "retry_at": 1_700_000_060 }),
        ),
        (
            OperationalEvent::EndpointRecovered { endpoint: endpoint() },
            "endpoint.recovered",
            json!({ "endpoint": "ep_1" }),
        ),
        (
            OperationalEvent::EndpointDisabled { endpoint: endpoint() },
            "endpoint.disabled",
            json!({ "endpoint": "ep_1" }),
        ),
    ] {
        let stored = event.to_event("evt_1".parse().unwrap(), start()).unwrap();
        assert_eq!(stored.audience, Audience::operator());
        assert_eq!(stored.event_type.as_str(), event_type);
        let body: Value = serde_json::from_slice(&stored.body).unwrap();
        assert_eq!(
            (&body["type"], &body["version"]),
            (&json!(event_type), &json!("1"))
        );
        assert_eq!(body["data"]["object"], object);
    }
}
