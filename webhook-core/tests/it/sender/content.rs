//! Content of the messages: the envelope, and CloudEvents 1.0 in both modes.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use webhook_core::{
    event::Envelope,
    receiver::Verifier,
    sender::{ContentMode, EndpointStore, Enqueue, Outbox, StoredEvent},
};

use super::fixture::{Fixture, answer, endpoint, event, secret, start};

/// The request for this event to an endpoint with this mode.
async fn sent(mode: ContentMode, event: StoredEvent) -> Request<Bytes> {
    let mut fixture = Fixture::scripted([answer(StatusCode::OK)]);
    fixture.dispatcher = fixture.dispatcher.with_source("https://api.example.com/a b");
    let endpoint = endpoint("ep_1").with_content(mode);
    fixture.endpoints.insert(endpoint).await.unwrap();
    let enqueue = Enqueue::to(event, ["ep_1".parse().unwrap()], start());
    fixture.outbox.enqueue(enqueue).await.unwrap();
    fixture.run().await;
    fixture.transport.requests().remove(0)
}

/// Verifies the signature of a request as its receiver would.
fn verify(request: &Request<Bytes>) {
    let verifier = Verifier::standard_webhooks(secret(1));
    let verified = verifier.verify(request.headers(), request.body().clone(), start());
    assert_eq!(verified.unwrap().header_id(), Some("evt_1"));
}

/// W25: by default the stored bytes are sent.
#[tokio::test]
async fn envelope_is_sent_unchanged() {
    let event = event("evt_1");
    let request = sent(ContentMode::Envelope, event.clone()).await;
    assert_eq!(request.body(), &event.body);
    assert_eq!(request.headers()["content-type"], "application/json");
    verify(&request);
}

/// W25: CloudEvents 1.0 in structured mode, signed as a whole.
#[tokio::test]
async fn structured_cloud_event_is_signed() {
    let request = sent(ContentMode::CloudEventsStructured, event("evt_1")).await;
    assert_eq!(request.headers()["content-type"], "application/cloudevents+json");
    let body: Value = serde_json::from_slice(request.body()).unwrap();
    let expected = json!({
        "specversion": "1.0",
        "id": "evt_1",
        "source": "https://api.example.com/a b",
        "type": "charge.refunded",
        "time": "2023-11-14T22:13:20Z",
        "eventversion": "1",
        "datacontenttype": "application/json",
        "data": { "id": "ch_1" },
    });
    assert_eq!(body, expected);
    verify(&request);
}

/// W25: CloudEvents 1.0 in binary mode: the attributes are headers, percent-encoded (HTTP binding
/// §3.1.3.2).
#[tokio::test]
async fn binary_cloud_event_is_signed() {
    let request = sent(ContentMode::CloudEventsBinary, event("evt_1")).await;
    assert_eq!(request.body(), &Bytes::from_static(br#"{"id":"ch_1"}"#));
    for (name, value) in [
        ("content-type", "application/json"),
        ("ce-specversion", "1.0"),
        ("ce-id", "evt_1"),
        ("ce-source", "https://api.example.com/a%20b"),
        ("ce-type", "charge.refunded"),
        ("ce-time", "2023-11-14T22:13:20Z"),
        ("ce-eventversion", "1"),
    ] {
        assert_eq!(request.headers()[name], value, "{name}");
    }
    verify(&request);
}

/// W25: a stored body that is no envelope is the data itself, JSON or not.
#[tokio::test]
async fn body_of_the_host_is_the_data() {
    for (body, data) in [
        (
            &b"[1, 2]"[..],
            json!({ "data": [1, 2], "datacontenttype": "application/json" }),
        ),
        (b"\xff\x00", json!({ "data_base64": "/wA=" })),
    ] {
        let own = StoredEvent {
            body: Bytes::from_static(body),
            ..event("evt_1")
        };
        let request = sent(ContentMode::CloudEventsStructured, own.clone()).await;
        let written: Value = serde_json::from_slice(request.body()).unwrap();
        for (name, value) in data.as_object().unwrap() {
            assert_eq!(&written[name], value, "{name}");
        }
        verify(&request);
        let request = sent(ContentMode::CloudEventsBinary, own).await;
        assert_eq!(request.body(), body);
        assert!(!request.headers().contains_key("ce-eventversion"));
        verify(&request);
    }
}

/// W25: the text of the resource is sent as the host wrote it, without a change of a number.
#[tokio::test]
async fn numbers_of_the_resource_are_kept() {
    let object = br#"{"amount":10.00,"big":123456789012345678901234567890}"#;
    let (id, event_type) = ("evt_1".parse().unwrap(), "charge.refunded".parse().unwrap());
    let envelope = Envelope::new(id, event_type, "1".parse().unwrap(), start(), object).unwrap();
    let event = StoredEvent::new(envelope, "everyone".parse().unwrap());
    let request = sent(ContentMode::CloudEventsStructured, event.clone()).await;
    let body = String::from_utf8(request.body().to_vec()).unwrap();
    assert!(
        body.contains(r#""data":{"amount":10.00,"big":123456789012345678901234567890}"#),
        "{body}"
    );
    let request = sent(ContentMode::CloudEventsBinary, event).await;
    assert_eq!(&request.body()[..], object);
}
