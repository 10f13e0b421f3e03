//! Refused requests and their responses.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};
use proptest::prelude::*;
use webhook_core::receiver::{ReceiveOutcome, ReceiverBuilder, VerifyFailure};

use super::{Fixture, assert_problem, body, outcome};

/// W5: a wrong signature, an old and a future timestamp, and missing headers get the same 400.
#[tokio::test]
async fn everything_that_does_not_verify_is_the_same_400() {
    let fixture = Fixture::new();
    let good = fixture.request("evt_1", body("evt_1"));
    let mut changed = good.clone();
    *changed.body_mut() = Bytes::from(body("evt_1") + "\n");
    let mut unsigned = good.clone();
    unsigned.headers_mut().remove("webhook-signature");
    let mut answers = vec![
        fixture.receiver.receive(changed).await,
        fixture.receiver.receive(unsigned).await,
    ];
    fixture.clock.advance(Duration::from_secs(301));
    answers.push(fixture.receiver.receive(good.clone()).await);
    fixture.clock.set(fixture.now() - Duration::from_secs(602));
    answers.push(fixture.receiver.receive(good.clone()).await);
    let reasons = [
        VerifyFailure::Mismatch,
        VerifyFailure::MissingHeader,
        VerifyFailure::TooOld,
        VerifyFailure::TooNew,
    ];
    for (answer, reason) in answers.iter().zip(reasons) {
        assert_problem(answer, StatusCode::BAD_REQUEST);
        assert_eq!(outcome(answer), ReceiveOutcome::Rejected(reason));
        assert_eq!(
            (answer.headers(), answer.body()),
            (answers[0].headers(), answers[0].body())
        );
    }
    assert_eq!(fixture.queued().await, []);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(
        fixture.receiver.receive(good).await.status(),
        StatusCode::NO_CONTENT
    );
}

/// W5: the reason has words for the log of the host, and no response contains them.
#[tokio::test]
async fn reason_has_words_for_the_log_alone() {
    let fixture = Fixture::new();
    let mut forged = fixture.request("evt_1", body("evt_1"));
    *forged.body_mut() = Bytes::from("forged");
    let answer = fixture.receiver.receive(forged).await;
    let ReceiveOutcome::Rejected(reason) = outcome(&answer) else {
        panic!("{answer:?}");
    };
    assert_eq!(reason.to_string(), "no signature matches");
    let text = String::from_utf8_lossy(answer.body());
    assert!(!text.contains(&reason.to_string()), "{text}");
}

/// W8: methods other than POST get 405 with `Allow: POST`.
#[tokio::test]
async fn other_methods_are_not_allowed() {
    let fixture = Fixture::new();
    for method in [
        Method::GET,
        Method::HEAD,
        Method::PUT,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        Method::from_bytes(b"post").unwrap(),
    ] {
        let mut request = fixture.request("evt_1", body("evt_1"));
        *request.method_mut() = method;
        let response = fixture.receiver.receive(request).await;
        assert_problem(&response, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()[header::ALLOW], "POST");
    }
    assert_eq!(fixture.queued().await, []);
}

/// W8: a body of 1 MiB is accepted; one byte more is refused before the verification.
#[tokio::test]
async fn a_body_over_the_limit_is_too_large() {
    let fixture = Fixture::new();
    let sized = |size: usize| {
        let envelope = body("evt_1");
        let padding = " ".repeat(size - envelope.len());
        fixture.request("evt_1", envelope + &padding)
    };
    let response = fixture.receiver.receive(sized(1024 * 1024 + 1)).await;
    assert_problem(&response, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        fixture.receiver.receive(sized(1024 * 1024)).await.status(),
        StatusCode::NO_CONTENT
    );

    let small = Fixture::with(|builder| builder.with_body_limit(10));
    assert_eq!(
        small.deliver("evt_1").await.status(),
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

/// W2: with `require_json` another content type, no content type, and two content types are
/// refused.
#[tokio::test]
async fn where_json_is_required_another_content_type_is_refused() {
    let fixture = Fixture::with(ReceiverBuilder::require_json);
    for (types, accepted) in [
        (&["application/json"][..], true),
        (&["Application/JSON; charset=utf-8"], true),
        (&["application/cloudevents+json"], true),
        (&["text/plain"], false),
        (&["application/jsonp"], false),
        (&["text/x+json"], false),
        (&[""], false),
        (&[], false),
        (&["application/json", "text/plain"], false),
    ] {
        let mut request = fixture.request("evt_1", body("evt_1"));
        request.headers_mut().remove(header::CONTENT_TYPE);
        for value in types {
            request
                .headers_mut()
                .append(header::CONTENT_TYPE, value.parse().unwrap());
        }
        let response = fixture.receiver.receive(request).await;
        if accepted {
            assert_eq!(response.status(), StatusCode::NO_CONTENT, "{types:?}");
        } else {
            assert_problem(&response, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
    }
}

proptest! {
    /// W8: no request causes a panic or a 500.
    #[test]
    fn no_request_makes_the_receiver_panic(method in "[A-Z]{1,8}", names in prop::collection::vec(("(webhook-(id|timestamp|signature)|content-type)", any::<Vec<u8>>()), 0..8), body: Vec<u8>) {
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        for (name, value) in names {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let response = runtime.block_on(Fixture::new().receiver.receive(request));
        prop_assert!(response.status().is_client_error());
    }
}
