//! Every exit of the pipeline is complete.

use std::sync::atomic::Ordering::SeqCst;

use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::{Response, StatusCode, header};
use http_conventions::{
    errors::{ErrorStatus, Problem, ReceivedProblem},
    idempotency::Reply,
    limits::{OnStoreFailure, Policy, Quota, RateLimiter},
};

use crate::{
    pipeline_fixture::{
        APP, Desk, QUOTA, SAID, assert_complete, assert_deprecated, json, preflight, request,
    },
    pipeline_stores::{BrokenIdempotency, BrokenLimits},
};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");

/// H22, H5, H13, H18, H19, H20: a refusal before authentication is complete.
#[tokio::test]
async fn a_refusal_of_the_head_is_complete() {
    let desk = Desk::new();
    let long = format!("/v1/charges?{}", "x".repeat(9000));
    let wide = ("x-wide", "w".repeat(40_000));
    let cases = [
        (414, request("GET", &long, &[])),
        (431, request("GET", "/v1/charges", &[(wide.0, &wide.1)])),
        (
            413,
            request("POST", "/v1/charges", &[("content-length", "1048577")]),
        ),
        (404, request("GET", "/v9/charges", &[])),
    ];
    for (status, request) in cases {
        let answer = desk.send(&request).await;
        assert_eq!(answer.status(), status);
        assert_complete(&answer, request.uri().path());
    }
    desk.clock.advance(std::time::Duration::from_secs(86_400));
    let gone = desk.send(&request("GET", "/v1/charges", &[])).await;
    assert_eq!(gone.status(), 410);
    assert_complete(&gone, "/v1/charges");
}

/// H13, H18, H19: a refusal by the server is complete, and a refusal of the head takes precedence.
#[tokio::test]
async fn a_refusal_by_the_server_is_complete() {
    let desk = Desk::new();
    let head = request("POST", "/v1/charges", &[]).map(|_| ());
    for (status, sent) in [
        (413, 413),
        (408, 408),
        (400, 400),
        (500, 500),
        (503, 503),
        (405, 500),
    ] {
        let status = StatusCode::from_u16(status).unwrap();
        let answer = desk.conventions.refuse(&head, status).into_response();
        assert_eq!(answer.status(), sent);
        assert_complete(&answer, "/v1/charges");
        assert_deprecated(&answer);
    }
    let large = desk.conventions.refuse(&head, StatusCode::PAYLOAD_TOO_LARGE);
    let large = ReceivedProblem::parse(large.into_response().body()).unwrap();
    assert!(large.type_uri().ends_with("content-too-large"), "{large:?}");
    for (early, path) in [(404, "/v9/charges"), (204, "/v1/charges")] {
        let head = match early {
            204 => preflight(path),
            _ => request("GET", path, &[]),
        };
        let answer = desk.conventions.refuse(&head, StatusCode::REQUEST_TIMEOUT);
        assert_eq!(answer.status(), early);
        assert_complete(&answer.into_response(), path);
    }
}

/// H15: the limits of the address and of the user are both reported, for passed and refused
/// requests.
#[tokio::test]
async fn two_limits_tell_of_both() {
    let desk = Desk::new();
    let request = request("GET", "/v2/charges", &[]);
    let hour = std::time::Duration::from_secs(3600);
    let policy = |name: &str, limit| Policy::new(name, Quota::per(limit, hour).unwrap()).unwrap();
    let (address, user) = (policy("address", 9), policy("caller", 1));
    for (status, told) in [
        (200, ["\"caller\";r=0;t=3600", "\"address\";r=8;t=400"]),
        (429, ["\"caller\";r=0;t=3600", "\"address\";r=7;t=400"]),
    ] {
        let exchange = desk.conventions.begin(&request).admit(&request).unwrap();
        let exchange = exchange.limit(&[address.spend("203.0.113.7")]).await.unwrap();
        let answer = match exchange.limit(&[user.spend("user-7")]).await {
            Ok(exchange) => exchange.finish(Ok(json("{}"))),
            Err(refused) => refused.into_response(),
        };
        assert_eq!(answer.status(), status);
        let lines: Vec<_> = answer.headers().get_all("ratelimit").iter().collect();
        assert_eq!(lines, told, "{status}");
        assert_complete(&answer, "/v2/charges");
    }
}

/// H18: a preflight response has a request id and Vary, and exposes no headers, because it has no
/// content.
#[tokio::test]
async fn a_preflight_is_complete() {
    let answer = Desk::new().send(&preflight("/v1/charges")).await;
    assert_eq!(answer.status(), 204);
    assert_complete(&answer, "/v1/charges");
    assert!(!answer.headers().contains_key("access-control-expose-headers"));
    assert!(answer.headers().contains_key("access-control-allow-methods"));
}

/// H13, H14, H20: a refusal by the host has the version lifecycle headers too.
#[tokio::test]
async fn a_refusal_of_the_host_is_complete() {
    let desk = Desk::new();
    for (status, owed, request) in [
        (
            401,
            "www-authenticate",
            request("GET", "/v1/charges", &[("authorization", "")]),
        ),
        (
            403,
            "www-authenticate",
            request("GET", "/v1/charges", &[("authorization", "Bearer weak")]),
        ),
        (404, "x-request-id", request("GET", "/v1/nothing", &[])),
        (405, "allow", request("DELETE", "/v1/charges", &[])),
    ] {
        let answer = desk.send(&request).await;
        assert_eq!(answer.status(), status);
        assert!(answer.headers().contains_key(owed), "{status}");
        assert_complete(&answer, request.uri().path());
        assert_deprecated(&answer);
    }
}

/// H5, H6, H14: a header that the host sets is on each exit, a replay has the current value, and it
/// displaces no header of the conventions.
#[tokio::test]
async fn headers_of_the_host_are_on_each_exit() {
    let desk = Desk::new();
    for (status, said, method, more) in [
        (200, "a", "GET", KEY),
        (304, "b", "GET", ("if-none-match", "\"1\"")),
        (401, "c", "GET", ("authorization", "")),
        (405, "d", "DELETE", KEY),
        (201, "e", "POST", KEY),
        (201, "f", "POST", KEY),
    ] {
        let fields = [KEY, ("x-said", said), more];
        let answer = desk.send(&request(method, "/v1/charges", &fields)).await;
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()[SAID]),
            (status, &said.parse().unwrap())
        );
        assert_eq!(answer.headers().get_all(SAID).iter().count(), 1);
        assert_eq!(answer.headers().contains_key("idempotency-replayed"), said == "f");
        assert_complete(&answer, "/v1/charges");
    }
    let head = request("GET", "/v1/charges", &[]);
    let mut exchange = desk.conventions.begin(&head).admit(&head).unwrap();
    exchange.set_header(header::CACHE_CONTROL, "no-store".parse().unwrap());
    exchange.set_header("x-request-id".parse().unwrap(), "of-the-host".parse().unwrap());
    let mut cached = json("{}");
    cached
        .headers_mut()
        .insert(header::CACHE_CONTROL, "private, max-age=60".parse().unwrap());
    let answer = exchange.finish(Ok(cached));
    assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-store");
    assert_ne!(answer.headers()["x-request-id"], "of-the-host");
}

/// H15: the 429 has the fields of every other response, and every counted response has the
/// remaining quota.
#[tokio::test]
async fn limits_are_reported_on_success_and_refusal() {
    let desk = Desk::new();
    for (status, request) in [
        (200, request("GET", "/v1/charges", &[])),
        (304, request("GET", "/v1/charges", &[("if-none-match", "\"1\"")])),
        (412, request("GET", "/v1/charges", &[("if-match", "\"0\"")])),
        (428, request("PATCH", "/v1/charges", &[])),
        (422, request("PUT", "/v1/charges", &[])),
        (201, request("POST", "/v1/charges", &[KEY])),
        (409, request("POST", "/v1/charges?other", &[KEY])),
        (400, request("POST", "/v1/charges", &[("idempotency-key", "a,b")])),
    ] {
        let answer = desk.send(&request).await;
        assert_eq!(answer.status(), status);
        assert_complete(&answer, "/v1/charges");
        assert_deprecated(&answer);
        assert!(answer.headers().contains_key("ratelimit"), "{status}");
    }
    for _ in 8..QUOTA {
        desk.send(&request("GET", "/v1/charges", &[])).await;
    }
    let refused = desk.send(&request("GET", "/v1/charges", &[])).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "72");
    assert!(refused.headers().contains_key("ratelimit"));
    assert_complete(&refused, "/v1/charges");
    assert_deprecated(&refused);
}

/// H6, H15: a store failure is a complete 503.
#[tokio::test]
async fn a_refusal_for_a_store_that_is_down_is_complete() {
    let limiter = |clock: ManualClock| {
        RateLimiter::new(
            std::sync::Arc::new(BrokenLimits),
            std::sync::Arc::new(clock),
            OnStoreFailure::FailClosed,
        )
    };
    let clock = Desk::new().clock;
    let desk = Desk::configured(|builder| builder.with_rate_limiter(limiter(clock)));
    let answer = desk.send(&request("GET", "/v1/charges", &[])).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    assert_complete(&answer, "/v1/charges");

    let desk = Desk::configured(|builder| builder.with_idempotency(BrokenIdempotency::endpoint()));
    let answer = desk.send(&request("POST", "/v1/charges", &[KEY])).await;
    assert_eq!(answer.status(), 503);
    assert_complete(&answer, "/v1/charges");
    assert_eq!(desk.runs.load(SeqCst), 0);
}

/// H13: an error of a framework with plain text or no content becomes a problem and keeps its
/// fields.
#[test]
fn an_answer_of_the_framework_becomes_a_problem() {
    let desk = Desk::new();
    for (status, field, content_type) in [
        (404, ("x-framework", "1"), None),
        (405, ("allow", "GET, HEAD"), None),
        (413, ("connection", "close"), Some("text/plain; charset=utf-8")),
        (415, ("accept", "application/json"), Some("TEXT/PLAIN")),
        (500, ("x-framework", "1"), Some("text/plain")),
        (503, ("retry-after", "120"), None),
    ] {
        let mut bare = Response::new(Bytes::from_static(b"a stack trace"));
        *bare.status_mut() = StatusCode::from_u16(status).unwrap();
        let headers = bare.headers_mut();
        headers.insert(field.0, field.1.parse().unwrap());
        headers.insert("content-length", "13".parse().unwrap());
        if let Some(content_type) = content_type {
            headers.insert("content-type", content_type.parse().unwrap());
        }
        let request = request("GET", "/v1/charges", &[]);
        let answer = desk.conventions.begin(&request).finish(Ok(bare));
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()[field.0], field.1);
        assert_eq!(answer.headers().get_all("content-type").iter().count(), 1);
        assert!(!answer.headers().contains_key("content-length"));
        assert_complete(&answer, "/v1/charges");
    }
}

/// H14, H15: headers that a framework omits from a 401, a 429 and a 503 are added.
#[test]
fn required_headers_of_a_status_are_added() {
    let desk = Desk::new();
    for (status, owed) in [
        (401, "www-authenticate"),
        (429, "retry-after"),
        (503, "retry-after"),
    ] {
        let bare = Response::builder().status(status).body(Bytes::new()).unwrap();
        let request = request("GET", "/v1/charges", &[]);
        let answer = desk.conventions.begin(&request).finish(Ok(bare));
        assert_eq!(answer.status(), status);
        assert!(answer.headers().contains_key(owed), "{status}");
    }
}

/// H12: an HTML page and an error of another protocol keep their content and get the fields too.
#[test]
fn an_error_of_another_kind_keeps_its_content() {
    let desk = Desk::new();
    for content_type in ["text/html; charset=utf-8", "application/json"] {
        let mut own = json("{\"error\":\"invalid_grant\"}");
        *own.status_mut() = StatusCode::BAD_REQUEST;
        own.headers_mut()
            .insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        let request = request("POST", "/token", &[]);
        let answer = desk.conventions.begin(&request).finish(Ok(own));
        assert_eq!(answer.body(), "{\"error\":\"invalid_grant\"}");
        assert_eq!(answer.headers()["content-type"], content_type);
        assert_eq!(answer.headers()["access-control-allow-origin"], APP);
        assert!(answer.headers().contains_key("x-request-id"));
    }
}

/// H5: content without a type is application/octet-stream; an empty response has no type.
#[test]
fn content_without_a_type_is_bytes() {
    let desk = Desk::new();
    for (content, content_type) in [("<b>{}</b>", Some("application/octet-stream")), ("", None)] {
        let bare = Response::new(Bytes::from(content));
        let request = request("GET", "/v1/charges", &[]);
        let answer = desk.conventions.begin(&request).finish(Ok(bare));
        let said = answer.headers().get(header::CONTENT_TYPE);
        assert_eq!(
            said.map(http::HeaderValue::as_bytes),
            content_type.map(str::as_bytes)
        );
        assert_eq!(answer.body(), content);
    }
}

/// H13: a clone finishes the response of a handler that panicked, under the same request id.
#[test]
fn a_panic_is_answered_under_the_id_of_its_request() {
    let desk = Desk::new();
    let request = request("GET", "/v1/charges", &[]);
    let exchange = desk.conventions.begin(&request);
    let (spare, known) = (exchange.clone(), exchange.id().clone());
    let handled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _running = exchange;
        std::panic::resume_unwind(Box::new("the handler broke"));
    }));
    assert!(handled.is_err());
    let answer = spare.finish(Err(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)));
    assert_eq!(answer.status(), 500);
    assert_eq!(answer.headers()["x-request-id"], known.as_str());
    assert_complete(&answer, "/v1/charges");
}

/// H6, H13: a stored error names the first request in every replay.
#[tokio::test]
async fn a_replayed_problem_is_the_first_byte_for_byte() {
    let desk = Desk::new();
    let refused = request("PUT", "/v1/charges", &[KEY]);
    let first = desk.send(&refused).await;
    assert_eq!(first.status(), 422);
    assert_complete(&first, "/v1/charges");
    let again = desk.send(&refused).await;
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(again.body(), first.body());
    assert_ne!(again.headers()["x-request-id"], first.headers()["x-request-id"]);
    assert!(again.headers().contains_key("ratelimit"));
}

/// H13: a problem that the host rendered is completed too.
#[tokio::test]
async fn a_rendered_problem_is_completed() {
    let desk = Desk::new();
    let request = request("POST", "/v1/charges", &[]);
    let rendered = || Problem::new(ErrorStatus::CONFLICT).into_response();
    let scope = http_conventions::idempotency::KeyScope::new("user-7", "/v1/charges");
    let begun = || desk.conventions.begin(&request);
    assert_complete(&begun().finish(Ok(rendered())), "/v1/charges");
    for reply in [Reply::Final(rendered()), Reply::Unkept(rendered())] {
        let exchange = begun().admit(&request).unwrap().skip_rate_limit();
        let answer = exchange.run(&request, scope, async { reply }).await;
        assert_complete(&answer, "/v1/charges");
    }
    // existing members stay, and content that is not an object stays unchanged
    let named = br#"{"status":409,"instance":"/theirs","request_id":"theirs"}"#;
    for body in [&named[..], b"[]", b"", b"{"] {
        let mut answer = rendered();
        *answer.body_mut() = Bytes::from_static(body);
        assert_eq!(begun().finish(Ok(answer)).body(), body);
    }
    let mut empty = rendered();
    *empty.body_mut() = Bytes::from_static(b" {} ");
    let answer = begun().finish(Ok(empty));
    assert!(
        ReceivedProblem::parse(answer.body())
            .unwrap()
            .extension("request_id")
            .is_some()
    );
}

/// H13: a target that is not a valid URI becomes a valid URI reference of this host in the problem.
#[test]
fn an_instance_is_a_uri_reference_of_this_host() {
    let desk = Desk::new();
    for (target, instance) in [
        ("/a\"b{c}", "/a%22b%7Bc%7D"),
        ("//evil.example/x", "/.//evil.example/x"),
    ] {
        let request = request("GET", target, &[]);
        let problem = Problem::new(ErrorStatus::NOT_FOUND);
        let answer = desk.conventions.begin(&request).finish(Err(problem));
        let problem = ReceivedProblem::parse(answer.body()).unwrap();
        assert_eq!(problem.instance(), Some(instance));
    }
}
