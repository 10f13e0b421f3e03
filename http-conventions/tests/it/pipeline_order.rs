//! Order of the pipeline: of two stages that could both respond, the earlier one does.

use std::sync::{Arc, atomic::Ordering::SeqCst};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{HeaderName, Request, Response};
use http_conventions::{
    caching::Vary,
    idempotency::KeyScope,
    pipeline::{Conventions, EarlyResponse},
    versions::{Lifecycle, VersionScheme},
};

use crate::pipeline_fixture::{APP, BASE, Desk, QUOTA, json, preflight, request};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
const STRANGER: (&str, &str) = ("authorization", "");

async fn status(desk: &Desk, request: &Request<Bytes>) -> u16 {
    desk.send(request).await.status().as_u16()
}

async fn exhaust(desk: &Desk) {
    for _ in 0..QUOTA {
        desk.send(&request("GET", "/v1/charges", &[])).await;
    }
    assert_eq!(status(desk, &request("GET", "/v1/charges", &[])).await, 429);
}

/// H22: size limits come before preflight, version and authentication.
#[tokio::test]
async fn size_limits_come_first() {
    let desk = Desk::new();
    let long = |path: &str| format!("{path}?{}", "x".repeat(9000));
    assert_eq!(status(&desk, &preflight(&long("/v1/charges"))).await, 414);
    assert_eq!(
        status(&desk, &request("GET", &long("/v9/charges"), &[])).await,
        414
    );
    assert_eq!(
        status(&desk, &request("GET", &long("/v1/charges"), &[STRANGER])).await,
        414
    );
}

/// H18: a preflight needs no version and no credentials, and takes no units of a limit.
#[tokio::test]
async fn a_preflight_comes_before_version_authentication_and_limits() {
    let desk = Desk::new();
    assert_eq!(status(&desk, &preflight("/v9/charges")).await, 204);
    assert_eq!(status(&desk, &preflight("/v1/charges")).await, 204);
    let before = desk.left().await;
    for _ in 0..10 {
        assert_eq!(status(&desk, &preflight("/v1/charges")).await, 204);
    }
    assert_eq!(desk.left().await, before - 1, "the question itself took one");
    let mut with_credentials = preflight("/v1/charges");
    with_credentials
        .headers_mut()
        .insert("authorization", "Bearer 7".parse().unwrap());
    exhaust(&desk).await;
    assert_eq!(status(&desk, &with_credentials).await, 204);
}

/// H20: the versions of an API are public, so an unknown version is refused before authentication.
#[tokio::test]
async fn the_version_comes_before_authentication() {
    let desk = Desk::new();
    assert_eq!(
        status(&desk, &request("GET", "/v9/charges", &[STRANGER])).await,
        404
    );
    assert_eq!(
        status(&desk, &request("GET", "/v1/charges", &[STRANGER])).await,
        401
    );
}

/// H15: an unauthenticated caller cannot spend the quota of a user.
#[tokio::test]
async fn authentication_comes_before_limits() {
    let desk = Desk::new();
    let before = desk.left().await;
    for _ in 0..10 {
        assert_eq!(
            status(&desk, &request("GET", "/v1/charges", &[STRANGER])).await,
            401
        );
    }
    assert_eq!(desk.left().await, before - 1, "the question itself took one");
    exhaust(&desk).await;
    assert_eq!(
        status(&desk, &request("GET", "/v1/charges", &[STRANGER])).await,
        401
    );
}

/// H15, H6: a replay is limited too; otherwise a key would bypass the limits.
#[tokio::test]
async fn limits_come_before_a_replay() {
    let desk = Desk::new();
    let made = request("POST", "/v1/charges", &[KEY]);
    assert_eq!(status(&desk, &made).await, 201);
    assert_eq!(desk.send(&made).await.headers()["idempotency-replayed"], "true");
    exhaust(&desk).await;
    assert_eq!(status(&desk, &made).await, 429);
    assert_eq!(desk.runs.load(SeqCst), 1);
}

/// H6, H7: a retried write gets its first response, not a 412 caused by its own effect.
#[tokio::test]
async fn a_replay_comes_before_preconditions() {
    let desk = Desk::new();
    let write = request("PATCH", "/v1/charges", &[KEY, ("if-match", "\"1\"")]);
    let first = desk.send(&write).await;
    assert_eq!(
        (first.status().as_u16(), &first.headers()["etag"]),
        (200, &"\"2\"".parse().unwrap())
    );
    let again = desk.send(&write).await;
    assert_eq!(
        (again.status().as_u16(), &again.headers()["etag"]),
        (200, &"\"2\"".parse().unwrap())
    );
    let without_key = request("PATCH", "/v1/charges", &[("if-match", "\"1\"")]);
    assert_eq!(status(&desk, &without_key).await, 412);
}

/// H22, H7: a write for another state has no effect, and an earlier refusal reveals nothing about
/// the state.
#[tokio::test]
async fn preconditions_are_looked_at_only_by_what_runs() {
    let desk = Desk::new();
    let stale = request("PATCH", "/v1/charges", &[("if-match", "\"0\"")]);
    assert_eq!(status(&desk, &stale).await, 412);
    let by_a_stranger = request("PATCH", "/v1/charges", &[("if-match", "\"0\""), STRANGER]);
    assert_eq!(status(&desk, &by_a_stranger).await, 401);
    let fresh = request("PATCH", "/v1/charges", &[("if-match", "\"1\"")]);
    assert_eq!(status(&desk, &fresh).await, 200);
}

fn pinned() -> Conventions {
    let clock = Arc::new(ManualClock::new(std::time::SystemTime::UNIX_EPOCH));
    let dates = ["2026-01-01", "2026-06-01"].map(|date| (date.parse().unwrap(), Lifecycle::default()));
    Conventions::builder(BASE, clock, Arc::new(SeededEntropy::new(1)))
        .with_cors(http_conventions::cors::CorsRules::origins([APP]))
        .with_versions(
            VersionScheme::Header(HeaderName::from_static("api-version")),
            dates,
        )
        .with_pinned_versions()
        .build()
        .unwrap()
}

/// H6, H20: a request with the same key and another version in a field is a different request.
/// Without a version in a field, a changed pin of the account is the same request.
#[tokio::test]
async fn a_key_is_of_the_version_that_its_request_names() {
    let desk = Desk::configured(|builder| {
        let dates = ["2026-01-01", "2026-06-01"].map(|date| (date.parse().unwrap(), Lifecycle::default()));
        let scheme = VersionScheme::Header(HeaderName::from_static("api-version"));
        builder.with_versions(scheme, dates).with_pinned_versions()
    });
    let run = async |key: &str, named: &str, pin: &str| {
        let request = request(
            "POST",
            "/charges",
            &[("idempotency-key", key), ("api-version", named)],
        );
        let exchange = desk.conventions.begin(&request).admit(&request).unwrap();
        let exchange = exchange
            .pin(&request, Some(pin.parse().unwrap()))
            .unwrap()
            .skip_rate_limit();
        let handler = async { json("{}") };
        let answer = exchange
            .run(&request, KeyScope::new("user-7", "/charges"), handler)
            .await;
        (
            answer.status().as_u16(),
            answer.headers().contains_key("idempotency-replayed"),
        )
    };
    let (old, new) = ("2026-01-01", "2026-06-01");
    assert_eq!(run("named-01", old, old).await, (200, false));
    assert_eq!(run("named-01", new, old).await, (409, false));
    assert_eq!(run("named-01", "", old).await, (409, false));
    assert_eq!(run("named-01", old, new).await, (200, true));
    assert_eq!(run("unnamed-1", "", old).await, (200, false));
    assert_eq!(run("unnamed-1", "", new).await, (200, true));
}

/// H20: the pin of an account counts after authentication, a named version before it, and the
/// response varies by the field.
#[test]
fn a_pin_is_resolved_after_authentication() {
    let conventions = pinned();
    let resolved = |request: &Request<Bytes>, pin: Option<&str>| -> Result<String, EarlyResponse> {
        let exchange = conventions.begin(request).admit(request)?;
        let exchange = exchange.pin(request, pin.map(|pin| pin.parse().unwrap()))?;
        Ok(exchange.version().unwrap().to_string())
    };
    let unsaid = request("GET", "/charges", &[]);
    assert_eq!(resolved(&unsaid, Some("2026-03-01")).unwrap(), "2026-01-01");
    let named = request("GET", "/charges", &[("api-version", "2026-07-01")]);
    assert_eq!(resolved(&named, Some("2026-03-01")).unwrap(), "2026-06-01");
    let refused = resolved(&unsaid, None).unwrap_err().into_response();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["vary"]),
        (400, &"origin, api-version".parse().unwrap())
    );
    let unknown = request("GET", "/charges", &[("api-version", "7")]);
    assert_eq!(
        conventions.begin(&unknown).admit(&unknown).unwrap_err().status(),
        400
    );

    let mut asks = preflight("/charges");
    asks.headers_mut()
        .insert("access-control-request-headers", "api-version".parse().unwrap());
    let allowed = conventions.begin(&asks).admit(&asks).unwrap_err().into_response();
    let allowed = allowed.headers()["access-control-allow-headers"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(allowed.contains("api-version"), "{allowed}");
}

/// H22: fields that the host evaluated are in Vary of every later exit.
#[test]
fn an_answer_varies_by_what_the_host_consulted() {
    let conventions = pinned();
    let request = request("GET", "/charges", &[("api-version", "2026-07-01")]);
    let mut exchange = conventions.begin(&request).admit(&request).unwrap();
    let mut vary = Vary::default();
    vary.add(http::header::ACCEPT);
    exchange.vary_by(&vary);
    let answer = exchange.finish(Ok(Response::new(Bytes::new())));
    assert_eq!(answer.headers()["vary"], "accept, origin, api-version");
}

/// H15: without a limiter no request passes.
#[tokio::test]
async fn without_a_limiter_no_request_passes() {
    let conventions = pinned();
    let request = request("GET", "/charges", &[("api-version", "2026-07-01")]);
    let exchange = conventions.begin(&request).admit(&request).unwrap();
    assert_eq!(exchange.limit(&[]).await.unwrap_err().status(), 500);
}

/// H6: an exchange can run in its own task, so that a disconnecting client does not end it.
#[tokio::test]
async fn a_run_can_be_spawned() {
    let conventions = pinned();
    let request = request("POST", "/charges", &[("api-version", "2026-07-01")]);
    let run = async move {
        let exchange = conventions.begin(&request).admit(&request)?.skip_rate_limit();
        let scope = KeyScope::new("user-7", "/charges");
        let handler = async { Response::new(Bytes::from_static(b"{}")) };
        Ok::<_, EarlyResponse>(exchange.run(&request, scope, handler).await)
    };
    assert_eq!(tokio::spawn(run).await.unwrap().unwrap().status(), 200);
}
