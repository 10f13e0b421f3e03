//! Tenants, endpoint settings and deletion, from the accepted event to the sent request.

use std::{num::NonZeroU32, time::Duration};

use http::StatusCode;
use webhook_core::sender::{
    Audience, DeliveryFilter, DeliveryState, Disposition, Endpoint, EndpointStore, EndpointUpdate, Enqueue,
    Enqueued, EventFilter, FailureReason, Outbox, Owner, ReplayRequest, StaticHeaders, StoredEvent,
};

use super::fixture::{Fixture, answer, delivery_id, endpoint, envelope, start};

fn owned(id: &str, owner: &str) -> Endpoint {
    Endpoint {
        owner: owner.parse().unwrap(),
        ..endpoint(id)
    }
}

/// Hosts that got a request, in ascending order.
fn hosts(fixture: &Fixture<host_ports::testing::ScriptedTransport>) -> Vec<String> {
    let requests = fixture.transport.requests();
    let mut hosts: Vec<String> = requests
        .iter()
        .map(|request| request.uri().host().unwrap().to_owned())
        .collect();
    hosts.sort();
    hosts
}

async fn three_owners() -> Fixture<host_ports::testing::ScriptedTransport> {
    let fixture = Fixture::scripted((0..9).map(|_| answer(StatusCode::OK)));
    for (id, owner) in [
        ("ep_a", "tenant:acme"),
        ("ep_o", "operator"),
        ("ep_z", "tenant:zenith"),
    ] {
        fixture.endpoints.insert(owned(id, owner)).await.unwrap();
    }
    fixture
}

/// W23: an event is sent to the endpoints of its audience and to no others.
#[tokio::test]
async fn event_is_sent_to_its_audience_alone() {
    for (audience, expected) in [
        ("tenant:acme", &["ep-a.example.com"][..]),
        ("tenant:zenith", &["ep-z.example.com"]),
        ("tenant:other", &[]),
        ("operator", &["ep-o.example.com"]),
        ("everyone", &["ep-a.example.com", "ep-z.example.com"]),
    ] {
        let fixture = three_owners().await;
        let event = StoredEvent::new(envelope("evt_1"), audience.parse().unwrap());
        assert_eq!(fixture.dispatcher.send(event).await.unwrap(), Enqueued::Enqueued);
        fixture.run().await;
        assert_eq!(hosts(&fixture), expected, "{audience}");
    }
}

/// W23: deliveries that a host or an attacker addresses to endpoints of others are not sent.
#[tokio::test]
async fn delivery_to_another_owner_is_not_sent() {
    let fixture = three_owners().await;
    let event = StoredEvent::new(envelope("evt_1"), "tenant:acme".parse().unwrap());
    let everywhere = ["ep_a", "ep_o", "ep_z"].map(|id| id.parse().unwrap());
    let enqueue = Enqueue::to(event, everywhere, start());
    fixture.outbox.enqueue(enqueue).await.unwrap();
    fixture.run().await;
    assert_eq!(hosts(&fixture), ["ep-a.example.com"]);
    for id in ["ep_o", "ep_z"] {
        let delivery = fixture.load(&delivery_id("evt_1", id)).await;
        assert_eq!(delivery.reason, Some(FailureReason::OutsideAudience));
    }
}

/// W23, W24: an endpoint is deleted while its events wait, and another tenant registers the id:
/// nothing that waited reaches the new owner, not even after a replay.
#[tokio::test]
async fn reused_id_does_not_inherit_deliveries() {
    let fixture = three_owners().await;
    let event = StoredEvent::new(envelope("evt_1"), "tenant:acme".parse().unwrap());
    fixture.dispatcher.send(event).await.unwrap();
    let id = "ep_a".parse().unwrap();
    assert!(fixture.endpoints.delete(&id).await.unwrap());
    fixture
        .endpoints
        .insert(owned("ep_a", "tenant:zenith"))
        .await
        .unwrap();
    for _ in 0..2 {
        let report = fixture.run().await;
        let outside = Disposition::Failed(FailureReason::OutsideAudience);
        assert_eq!(report.handled[0].disposition, outside);
        let replay = ReplayRequest {
            filter: DeliveryFilter::default(),
            acknowledged: true,
            after: None,
            limit: usize::MAX,
            now: fixture.now(),
            dry_run: false,
        };
        assert_eq!(fixture.outbox.replay(&replay).await.unwrap().count, 1);
    }
    assert!(hosts(&fixture).is_empty());
}

/// W24: the waiting deliveries of a deleted endpoint fail and stay for inspection.
#[tokio::test]
async fn deliveries_of_deleted_endpoint_fail_visibly() {
    let fixture = three_owners().await;
    fixture.send("evt_1").await;
    assert!(fixture.endpoints.delete(&"ep_a".parse().unwrap()).await.unwrap());
    fixture.run().await;
    assert_eq!(hosts(&fixture), ["ep-z.example.com"]);
    let delivery = fixture.load(&delivery_id("evt_1", "ep_a")).await;
    assert_eq!(delivery.state, DeliveryState::PermanentFailure);
    assert_eq!(delivery.reason, Some(FailureReason::EndpointUnknown));
}

/// W24: a test event goes to the one endpoint that it names, whatever its filter.
#[tokio::test]
async fn test_event_goes_to_one_endpoint() {
    let fixture = three_owners().await;
    for (number, id) in ["ep_a", "ep_o"].into_iter().enumerate() {
        let id = id.parse().unwrap();
        let nothing = EndpointUpdate::new().with_events(EventFilter::only([]));
        assert!(fixture.endpoints.update(&id, nothing).await.unwrap());
        let endpoint = fixture.endpoints.load(&id).await.unwrap().unwrap();
        let test = envelope(&format!("evt_{number}"));
        let sent = fixture.dispatcher.send_to(&endpoint, test, None).await.unwrap();
        assert_eq!(sent, Enqueued::Enqueued);
    }
    fixture.run().await;
    assert_eq!(hosts(&fixture), ["ep-a.example.com", "ep-o.example.com"]);
}

/// W25: static headers are sent with each message, and change no header of the dispatcher.
#[tokio::test]
async fn static_headers_are_sent() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)]);
    let headers = StaticHeaders::new([("authorization", "Bearer 8c1f"), ("x-team", "billing")]);
    let endpoint = endpoint("ep_1").with_headers(headers.unwrap());
    fixture.endpoints.insert(endpoint).await.unwrap();
    fixture.send("evt_1").await;
    fixture.run().await;
    let request = &fixture.transport.requests()[0];
    assert_eq!(request.headers()["authorization"], "Bearer 8c1f");
    assert_eq!(request.headers()["x-team"], "billing");
    assert_eq!(request.headers()["content-type"], "application/json");
    assert!(!format!("{request:?}").contains("8c1f"), "the value is sensitive");
}

/// W25: names that the dispatcher, the signature or HTTP sets are refused, in any spelling.
#[test]
fn reserved_headers_are_refused() {
    for name in [
        "Content-Type",
        "content-length",
        "HOST",
        "User-Agent",
        "connection",
        "Transfer-Encoding",
        "te",
        "upgrade",
        "trailer",
        "expect",
        "keep-alive",
        "proxy-authorization",
        "cookie",
        "forwarded",
        "via",
        "X-Forwarded-For",
        "webhook-id",
        "Webhook-Signature",
        "WEBHOOK-ANYTHING",
        "ce-id",
        "CE-Type",
        "signature",
        "Signature-Input",
        "content-digest",
        "sec-fetch-site",
        "date",
    ] {
        let refused = StaticHeaders::new([(name, "secret-value")]).unwrap_err();
        let told = refused.to_string();
        assert!(
            told.contains("is reserved") && !told.contains("secret-value"),
            "{told}"
        );
    }
    for (name, value) in [
        ("", "x"),
        ("a b", "x"),
        ("x:", "x"),
        ("x", "a\r\nb"),
        ("x", "é"),
        ("x\n", "y"),
    ] {
        assert!(StaticHeaders::new([(name, value)]).is_err(), "{name:?} {value:?}");
    }
    assert!(StaticHeaders::new([("x", "1"), ("X", "2")]).is_err(), "repeated");
    let names: Vec<String> = (0..33).map(|number| format!("x-{number}")).collect();
    let headers = |count| StaticHeaders::new(names.iter().take(count).map(|name| (name.as_str(), "v")));
    assert!(headers(32).is_ok() && headers(33).is_err());
    // 256 bytes of a name, 4,096 of a value, 8 KiB of all
    let (name, value) = ("n".repeat(256), "v".repeat(4096));
    assert!(StaticHeaders::new([(&*name, &*value)]).is_ok());
    assert!(StaticHeaders::new([(&*format!("{name}n"), "v")]).is_err());
    assert!(StaticHeaders::new([("x", &*format!("{value}v"))]).is_err());
    let rest = "v".repeat(4094);
    assert!(StaticHeaders::new([("x", &*value), ("y", &*rest)]).is_ok());
    assert!(StaticHeaders::new([("x", &*value), ("xy", &*rest)]).is_err());
}

/// W25: an endpoint with a rate of 2 a second gets 20 events in ten seconds, after the first
/// window.
#[tokio::test]
async fn rate_is_kept() {
    let fixture = Fixture::scripted((0..40).map(|_| answer(StatusCode::OK)));
    let endpoint = endpoint("ep_1").with_rate(NonZeroU32::new(2).unwrap());
    fixture.endpoints.insert(endpoint).await.unwrap();
    for number in 0..30 {
        fixture.send(&format!("evt_{number}")).await;
    }
    fixture.run().await;
    let first = fixture.transport.requests().len();
    assert!(
        first <= 4,
        "the first window is at most the concurrency limit: {first}"
    );
    // the intervals of the first window
    fixture
        .clock
        .advance(Duration::from_millis(500) * u32::try_from(first).unwrap());
    for second in 1..=10 {
        let before = fixture.transport.requests().len();
        for _ in 0..10 {
            fixture.run().await;
            fixture.clock.advance(Duration::from_millis(100));
        }
        let sent = fixture.transport.requests().len() - before;
        assert_eq!(sent, 2, "second {second}");
    }
}

/// W23: an event for everyone has to say so; the text forms of audiences are stable and distinct.
#[test]
fn audiences_keep_their_text() {
    let tenant = |id: &str| Audience::tenant(id.parse().unwrap());
    for (audience, text) in [
        (tenant("acme"), "tenant:acme"),
        (tenant("everyone"), "tenant:everyone"),
        (tenant("tenant:x"), "tenant:tenant:x"),
        (Audience::operator(), "operator"),
        (Audience::everyone(), "everyone"),
    ] {
        assert_eq!(audience.to_string(), text);
        assert_eq!(text.parse(), Ok(audience));
    }
    for text in ["", "acme", "tenant:", "tenant:a b", "Operator", "everyone ", "*"] {
        assert!(text.parse::<Audience>().is_err(), "{text:?}");
    }
    assert!("everyone".parse::<Owner>().is_err(), "an endpoint has one owner");
}
