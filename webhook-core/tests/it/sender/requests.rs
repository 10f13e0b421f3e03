//! Requests as receivers see them.

use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};
use webhook_core::{
    ports::{Clock, ExchangeLimits},
    receiver::Verifier,
    secret::Keyring,
    sender::{EndpointStore, KEPT_ANSWER, Rotation},
    signature::{Signer, Signers},
};

use super::fixture::{Fixture, answer, endpoint, envelope, secret, signer, start};

/// W2: a request is a POST of the exact bytes as JSON, with the three headers.
#[tokio::test]
async fn a_message_is_the_envelopes_exact_bytes_with_its_headers() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)])
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    fixture.run().await;
    let requests = fixture.transport.requests();
    let request = &requests[0];
    assert_eq!(request.method(), Method::POST);
    assert_eq!(request.uri(), "https://ep-1.example.com/hooks");
    assert_eq!(request.headers()["content-type"], "application/json");
    assert_eq!(request.headers()["webhook-id"], "evt_1");
    assert_eq!(request.headers()["webhook-timestamp"], "1700000000");
    assert_eq!(request.body(), envelope("evt_1").bytes());
}

/// W2: each message has one `User-Agent`, that of the host or the default.
#[tokio::test]
async fn a_message_names_its_sender() {
    let mut fixture = Fixture::scripted((0..2).map(|_| answer(StatusCode::OK)))
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    fixture.run().await;
    let desk = HeaderValue::from_static("payments-desk/2 (+https://desk.example/webhooks)");
    fixture.dispatcher = fixture.dispatcher.with_user_agent(desk.clone());
    fixture.send("evt_2").await;
    fixture.run().await;
    let requests = fixture.transport.requests();
    for (request, expected) in requests.iter().zip(["webhook-core/0.1", desk.to_str().unwrap()]) {
        let named: Vec<_> = request.headers().get_all("user-agent").iter().collect();
        assert_eq!(named, [expected]);
    }
}

/// W12: the transport gets ten seconds for the whole exchange, and the log's limit of the body.
#[tokio::test]
async fn transport_gets_ten_second_deadline() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)])
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    fixture.run().await;
    let limits = ExchangeLimits {
        timeout: Duration::from_secs(10),
        max_response_body: KEPT_ANSWER,
        body_timeout: Some(Duration::from_secs(1)),
    };
    assert_eq!(fixture.transport.requests()[0].extensions().get(), Some(&limits));
}

/// W5: every attempt is signed at its own time, under the same id.
#[tokio::test]
async fn each_attempt_is_signed_at_its_own_time() {
    let fixture = Fixture::scripted([answer(StatusCode::BAD_GATEWAY), answer(StatusCode::OK)]);
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    fixture.clock.advance(Duration::from_secs(60 * 60));
    assert!(report.next_due.unwrap() <= fixture.now());
    fixture.run().await;
    let verifier = Verifier::standard_webhooks(secret(1));
    for (request, sent_at) in fixture.transport.requests().iter().zip([start(), fixture.now()]) {
        let verified = verifier
            .verify(request.headers(), request.body().clone(), sent_at)
            .unwrap();
        assert_eq!(verified.header_id(), Some("evt_1"));
    }
}

/// W6: during the overlap the old and the new secret verify; after it only the new one.
#[tokio::test]
async fn both_secrets_verify_during_the_overlap() {
    let fixture = Fixture::scripted((0..2).map(|_| answer(StatusCode::OK)));
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    let rotation = Rotation {
        next: signer(2),
        now: start(),
        overlap: Signers::OVERLAP,
    };
    fixture
        .endpoints
        .rotate(&"ep_1".parse().unwrap(), &rotation)
        .await
        .unwrap();
    fixture.send("evt_1").await;
    fixture.run().await;
    fixture.clock.advance(Signers::OVERLAP);
    fixture.send("evt_2").await;
    fixture.run().await;
    let requests = fixture.transport.requests();
    let verifies = |index: usize, key: u8, now| {
        let verifier = Verifier::standard_webhooks(Keyring::from(secret(key)));
        verifier
            .verify(requests[index].headers(), requests[index].body().clone(), now)
            .is_ok()
    };
    assert!(verifies(0, 1, start()) && verifies(0, 2, start()));
    let now = fixture.clock.now();
    assert!(!verifies(1, 1, now) && verifies(1, 2, now));
}

/// W3: one message can carry tokens of several schemes, for receivers of each.
#[tokio::test]
async fn one_message_verifies_by_each_of_its_schemes() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)]);
    let mut both = endpoint("ep_1");
    both.signers = both
        .signers
        .with_signer(Signer::timestamp_body_hex(&secret(3)))
        .unwrap();
    fixture.endpoints.insert(both).await.unwrap();
    fixture.send("evt_1").await;
    fixture.run().await;
    let requests = fixture.transport.requests();
    let (headers, body) = (requests[0].headers(), requests[0].body());
    for verifier in [
        Verifier::standard_webhooks(secret(1)),
        Verifier::timestamp_body_hex(secret(3)),
    ] {
        verifier.verify(headers, body.clone(), start()).unwrap();
    }
}
