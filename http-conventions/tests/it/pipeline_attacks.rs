//! Attacks on the completeness and correctness of pipeline responses.

use std::{panic::resume_unwind, sync::atomic::Ordering::SeqCst, time::Duration};

use allocation_counter::measure;
use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::{Response, StatusCode, header};
use http_conventions::{
    errors::{ErrorStatus, Problem, ReceivedProblem},
    idempotency::KeyScope,
    limits::{HeaderProfile, MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter},
    versions::{Lifecycle, VersionScheme},
};

use crate::pipeline_fixture::{APP, Desk, assert_complete, json, request};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
const SCOPE: KeyScope<'_> = KeyScope::new("user-7", "/v1/charges");

/// H13: a changed problem loses the length and tags of its former bytes, which would truncate it
/// for clients.
#[test]
fn changed_content_loses_its_digests_and_tags() {
    let desk = Desk::new();
    let request = request("GET", "/v1/charges", &[]);
    let of_bytes = [
        "content-length",
        "etag",
        "last-modified",
        "content-digest",
        "repr-digest",
    ];
    let finish = |body: &'static [u8], content_type: &str| {
        let mut own = Response::new(Bytes::from_static(body));
        *own.status_mut() = StatusCode::CONFLICT;
        own.headers_mut()
            .insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        for name in of_bytes {
            own.headers_mut().insert(name, "14".parse().unwrap());
        }
        desk.conventions.begin(&request).finish(Ok(own))
    };
    for (body, content_type) in [
        (&br#"{"status":409}"#[..], "application/problem+json"),
        (b"conflict", "text/plain"),
    ] {
        let grown = finish(body, content_type);
        assert!(grown.body().len() > body.len());
        for name in of_bytes {
            assert!(!grown.headers().contains_key(name), "{name}");
        }
    }
    for body in [&br#"{"instance":"/x","request_id":"y"}"#[..], b"[]"] {
        let whole = finish(body, "application/problem+json");
        assert_eq!(whole.body(), body);
        for name in of_bytes {
            assert!(whole.headers().contains_key(name), "{name}");
        }
    }
}

/// H13: only a problem is parsed; a large response of another type is not.
#[tokio::test]
async fn only_problems_are_parsed() {
    let desk = Desk::new();
    let request = request("GET", "/v1/charges", &[]);
    let text = format!("{{\"data\":\"{}\"}}", "x".repeat(1 << 20));
    for (status, content_type) in [
        (200, "application/json"),
        (400, "application/json"),
        (200, "application/problem+json"),
    ] {
        let mut own = json(&text);
        *own.status_mut() = StatusCode::from_u16(status).unwrap();
        own.headers_mut()
            .insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        let mut finished = None;
        let allocated = measure(|| finished = Some(desk.conventions.begin(&request).finish(Ok(own))));
        assert_eq!(finished.unwrap().body(), &text);
        assert!(
            allocated.bytes_total < 16 << 10,
            "{status} {content_type}: {allocated:?}"
        );
    }
}

/// H6, H22: a panic is a complete 500, rate-limit fields included; its key counts as crashed and
/// does not run again.
#[tokio::test]
async fn a_handler_that_panics_is_answered_and_never_runs_again() {
    let desk = Desk::new();
    let policy = Policy::new("user", Quota::per(9, Duration::from_secs(60)).unwrap()).unwrap();
    let run = async |handler_panics: bool| {
        let request = request("POST", "/v1/charges", &[KEY]);
        let exchange = desk.conventions.begin(&request).admit(&request).unwrap();
        let exchange = exchange.limit(&[policy.spend("user-7")]).await.unwrap();
        let handler = async {
            tokio::task::yield_now().await;
            desk.runs.fetch_add(1, SeqCst);
            match handler_panics {
                true => resume_unwind(Box::new("the handler broke")),
                false => json("{}"),
            }
        };
        exchange.run(&request, SCOPE, handler).await
    };
    let broken = run(true).await;
    assert_eq!(broken.status(), 500);
    assert_complete(&broken, "/v1/charges");
    assert!(broken.headers().contains_key("ratelimit"));
    let early = run(false).await;
    assert_eq!(early.status(), 409);
    assert!(early.headers().contains_key("retry-after"));
    desk.clock.advance(Duration::from_secs(61));
    let late = run(false).await;
    assert_eq!(late.status(), 409);
    let problem = ReceivedProblem::parse(late.body()).unwrap();
    assert!(problem.type_uri().ends_with("/idempotency-outcome-unknown"));
    assert_eq!(desk.runs.load(SeqCst), 1);
}

/// H13: a handler that panics at its first poll, without a key, gets a 500 too.
#[tokio::test]
async fn a_panic_without_a_key_is_answered() {
    let desk = Desk::new();
    let request = request("GET", "/v1/charges", &[]);
    let exchange = desk
        .conventions
        .begin(&request)
        .admit(&request)
        .unwrap()
        .skip_rate_limit();
    let broken = exchange.run(&request, SCOPE, async { broken() }).await;
    assert_eq!(broken.status(), 500);
    assert_complete(&broken, "/v1/charges");
}

fn broken() -> Response<Bytes> {
    resume_unwind(Box::new("the handler broke"))
}

/// H13, H19: a target that is too long is not repeated in the response.
#[tokio::test]
async fn a_target_that_is_too_long_is_not_repeated() {
    let desk = Desk::new();
    for (length, is_repeated) in [(2048, true), (2049, false), (60_000, false)] {
        let path = format!("/{}", "\"".repeat(length - 1));
        let answer = desk.send(&request("GET", &path, &[])).await;
        assert!(answer.status().is_client_error());
        let problem = ReceivedProblem::parse(answer.body()).unwrap();
        assert_eq!(problem.instance().is_some(), is_repeated, "{length}");
        assert!(answer.body().len() < 3 * 2048 + 512);
    }
}

/// H22: a response that the handler and a layer both finish has each header once.
#[tokio::test]
async fn finishing_twice_changes_nothing() {
    let policy = Policy::new("user", Quota::per(9, Duration::from_secs(60)).unwrap()).unwrap();
    let desk = Desk::configured(|builder| {
        let clock = std::sync::Arc::new(ManualClock::new(std::time::UNIX_EPOCH));
        let store = std::sync::Arc::new(MemoryRateLimitStore::default());
        let limiter = RateLimiter::new(store, clock, OnStoreFailure::FailClosed).with_profile(
            HeaderProfile::STRUCTURED
                .and(HeaderProfile::UNIX)
                .and(HeaderProfile::X_UNIX),
        );
        let old = Lifecycle::deprecated(std::time::UNIX_EPOCH).with_successor("/v2/charges".parse().unwrap());
        builder
            .with_rate_limiter(limiter)
            .with_versions(VersionScheme::Path, [("1".parse().unwrap(), old)])
    });
    let request = request("GET", "/v1/charges", &[]);
    let outer = desk.conventions.begin(&request).admit(&request).unwrap();
    let inner = outer.clone().limit(&[policy.spend("user-7")]).await.unwrap();
    for outcome in [
        Ok(json("{}")),
        Ok(Response::builder().status(404).body(Bytes::new()).unwrap()),
        Err(Problem::new(ErrorStatus::CONFLICT)),
    ] {
        let once = inner.clone().finish(outcome);
        assert!(once.headers().contains_key("link") && once.headers().contains_key("ratelimit"));
        for again in [
            inner.clone().finish(Ok(once.clone())),
            outer.clone().finish(Ok(once.clone())),
        ] {
            assert_eq!(again.headers(), once.headers());
            assert_eq!(again.body(), once.body());
        }
    }
}

/// H15: the refusing limit comes first in the fields, followed by the limits that passed.
#[tokio::test]
async fn a_second_limit_reports_the_refusing_policy() {
    let desk = Desk::configured(|builder| {
        let clock = std::sync::Arc::new(ManualClock::new(std::time::UNIX_EPOCH));
        let store = std::sync::Arc::new(MemoryRateLimitStore::default());
        let limiter =
            RateLimiter::new(store, clock, OnStoreFailure::FailClosed).with_profile(HeaderProfile::UNIX);
        builder.with_rate_limiter(limiter)
    });
    let policy = |name: &str, limit: u32| {
        Policy::new(name, Quota::per(limit, Duration::from_secs(60)).unwrap()).unwrap()
    };
    let (address, user) = (policy("address", 9), policy("user", 1));
    let request = request("GET", "/v1/charges", &[]);
    let limited = async || {
        let exchange = desk.conventions.begin(&request).admit(&request).unwrap();
        let exchange = exchange.limit(&[address.spend("192.0.2.1")]).await.unwrap();
        exchange.limit(&[user.spend("user-7")]).await
    };
    let passed = limited().await.unwrap().finish(Ok(json("{}")));
    assert_eq!(passed.headers()["ratelimit-limit"], "1");
    let refused = limited().await.unwrap_err().into_response();
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["ratelimit-limit"], "1");
    assert_eq!(refused.headers()["ratelimit-remaining"], "0");
    assert_eq!(refused.headers().get_all("ratelimit-limit").iter().count(), 1);
}

/// H13, H22: a stream is not read and gets the fields of every response; it is replaced only if it
/// is an error without explanation.
#[test]
fn a_stream_is_finished_without_being_read() {
    struct Stream(&'static str);
    let desk = Desk::new();
    let request = request("GET", "/v1/charges", &[]);
    for (status, content_type, is_replaced) in [
        (200, "text/plain", false),
        (206, "text/plain", false),
        (304, "text/plain", false),
        (404, "application/problem+json", false),
        (404, "text/html", false),
        (404, "text/plain", true),
        (502, "", true),
    ] {
        let mut own = Response::new(Stream("own"));
        *own.status_mut() = StatusCode::from_u16(status).unwrap();
        if !content_type.is_empty() {
            own.headers_mut()
                .insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        }
        let mut made = None;
        let finished = desk.conventions.begin(&request).finish_as(Ok(own), |content| {
            made = Some(content);
            Stream("problem")
        });
        assert_eq!(
            finished.body().0 == "problem",
            is_replaced,
            "{status} {content_type}"
        );
        assert_eq!(made.is_some(), is_replaced);
        assert_eq!(finished.headers()["access-control-allow-origin"], APP);
        assert!(finished.headers().contains_key("x-request-id"));
        assert_eq!(finished.status(), status);
    }
    let problem = desk
        .conventions
        .begin(&request)
        .finish_as(Err(Problem::new(ErrorStatus::CONFLICT)), |content| content);
    assert_complete(&problem, "/v1/charges");
}

/// H18: OPTIONS is a preflight only with the headers of a preflight; any other OPTIONS goes to the
/// host.
#[test]
fn an_options_that_asks_for_no_leave_is_the_hosts() {
    let desk = Desk::new();
    let asks = ("access-control-request-method", "PATCH");
    for (fields, is_preflight) in [
        (&[asks][..], true),
        (&[], false),
        (&[("origin", "")], false),
        (&[("origin", ""), asks], false),
        (&[("origin", "https://evil.example"), asks], true),
    ] {
        let request = request("OPTIONS", "/v1/charges", fields);
        let admitted = desk.conventions.begin(&request).admit(&request);
        assert_eq!(admitted.is_err(), is_preflight, "{fields:?}");
        if let Err(early) = admitted {
            let is_ours = request.headers()["origin"] == APP;
            let answer = early.into_response();
            assert_eq!(
                answer.headers().contains_key("access-control-allow-origin"),
                is_ours
            );
            assert_eq!(
                answer.headers().contains_key("access-control-allow-methods"),
                is_ours
            );
            assert!(answer.headers().contains_key("x-request-id"));
        }
    }
}
