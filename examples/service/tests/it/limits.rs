//! Rate limits: 429 with `Retry-After`, and the remaining quota on every other response.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use http_conventions::errors::ReceivedProblem;
use http_conventions::forwarding::TrustedProxies;
use http_conventions::limits::QUOTA_EXCEEDED;
use service::app::{App, Config, Limits};
use service::clock::DemoClock;
use service::logging::LogFormat;

use crate::browser::{HTML, text};
use crate::desk::{ALL_SCOPES, BASE, FORM, SERVICE, ask, bearer, call, header, json, request};
use crate::log::capture;

async fn limited(limits: Limits) -> (Arc<App>, DemoClock) {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    let clock = DemoClock::new();
    config.clock = clock.clone();
    config.limits = limits;
    (Arc::new(App::open(config).await.unwrap()), clock)
}

fn few() -> Limits {
    let mut limits = Limits::default();
    (limits.of_caller, limits.of_address) = (3, 5);
    (limits.of_token_endpoints, limits.of_pages) = (2, 4);
    limits
}

/// Sends a request as a server passes it on, from this address.
async fn from(
    app: &Arc<App>,
    peer: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
) -> Response<Bytes> {
    let mut sent = request(method, path, headers, "grant_type=client_credentials");
    let peer: SocketAddr = peer.parse().unwrap();
    sent.extensions_mut().insert(peer);
    ask(app, sent).await
}

fn expect_429(response: &Response<Bytes>, policy: &str) -> Duration {
    assert_eq!(
        header(response.headers(), "content-type"),
        "application/problem+json"
    );
    let problem = ReceivedProblem::parse(response.body()).unwrap();
    assert_eq!(problem.type_uri(), QUOTA_EXCEEDED);
    assert_eq!(
        json(response).get("violated-policies"),
        Some(&serde_json::json!([policy]))
    );
    expect_wait(response, policy)
}

/// Checks the headers of a 429; returns the wait.
fn expect_wait(response: &Response<Bytes>, policy: &str) -> Duration {
    assert_eq!(response.status(), 429, "{response:?}");
    assert_eq!(header(response.headers(), "cache-control"), "no-store");
    assert!(!header(response.headers(), "x-request-id").is_empty());
    let told = header(response.headers(), "ratelimit");
    assert!(told.starts_with(&format!("\"{policy}\";r=0;t=")), "{told}");
    assert_eq!(header(response.headers(), "x-ratelimit-remaining"), "0");
    let wait = header(response.headers(), "retry-after").parse().unwrap();
    assert!(wait > 0, "{wait}");
    Duration::from_secs(wait)
}

/// H15: a principal over its limit gets 429 with `Retry-After` and passes after the wait. Successes
/// and refusals state the remaining quota. Another principal, here an anonymous GraphQL client, has
/// its own bucket.
#[tokio::test]
async fn caller_over_limit_gets_retry_after() {
    let (app, clock) = limited(few()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let paths = ["/v1/charges", "/v1/customers", "/v1/charges?limit=0"];
    for (left, path) in [2, 1, 0].into_iter().zip(paths) {
        let passed = call(&app, &token, ("GET", path), &[], "").await;
        assert_ne!(passed.status(), 429, "{passed:?}");
        let headers = passed.headers();
        assert_eq!(header(headers, "ratelimit-policy"), "\"caller\";q=3;w=60");
        assert!(header(headers, "ratelimit").starts_with(&format!("\"caller\";r={left};t=")));
        for prefix in ["", "x-"] {
            assert_eq!(header(headers, &format!("{prefix}ratelimit-limit")), "3");
            assert_eq!(
                header(headers, &format!("{prefix}ratelimit-remaining")),
                left.to_string()
            );
            assert!(!header(headers, &format!("{prefix}ratelimit-reset")).is_empty());
        }
    }
    let refused = call(&app, &token, ("GET", "/v1/charges"), &[], "").await;
    clock.advance(expect_429(&refused, "caller"));
    assert_eq!(
        call(&app, &token, ("GET", "/v1/charges"), &[], "").await.status(),
        200
    );
}

/// H6, H15: a 429 is not stored under the idempotency key; the same request runs later.
#[tokio::test]
async fn rate_limited_post_runs_on_retry() {
    let (app, clock) = limited(few()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    for _ in 0..3 {
        call(&app, &token, ("GET", "/v1/charges"), &[], "").await;
    }
    let key = [("idempotency-key", "of-one-charge")];
    let charge = r#"{"amount":100,"currency":"eur"}"#;
    let refused = call(&app, &token, ("POST", "/v1/charges"), &key, charge).await;
    clock.advance(expect_429(&refused, "caller"));
    let made = call(&app, &token, ("POST", "/v1/charges"), &key, charge).await;
    assert_eq!(made.status(), 201, "{made:?}");
    // the replay states the current quota, not that of the first response
    clock.advance(Duration::from_secs(60));
    let again = call(&app, &token, ("POST", "/v1/charges"), &key, charge).await;
    assert_eq!(header(again.headers(), "idempotency-replayed"), "true");
    assert_eq!(header(again.headers(), "x-ratelimit-remaining"), "2");
    assert_eq!(again.headers().get_all("x-ratelimit-remaining").iter().count(), 1);
}

/// H15: addresses are counted before authentication, an IPv6 /64 as one; no header changes a
/// request's address.
#[tokio::test]
async fn an_address_is_counted_before_the_sign_in() {
    let (app, _clock) = limited(few()).await;
    for port in 1..=5 {
        let peer = format!("[2001:db8:1:2::{port}]:{port}");
        let headers = [
            ("x-forwarded-for", "203.0.113.9"),
            ("authorization", "Bearer unknown"),
        ];
        let refused = from(&app, &peer, ("GET", "/v1/charges"), &headers).await;
        assert_eq!(refused.status(), 401, "{refused:?}");
        assert_eq!(
            header(refused.headers(), "ratelimit-policy"),
            "\"address\";q=5;w=60"
        );
    }
    for path in ["/v1/charges", "/userinfo", "/graphql"] {
        let refused = from(&app, "[2001:db8:1:2:ffff::]:9", ("GET", path), &[]).await;
        expect_429(&refused, "address");
    }
    let elsewhere = from(&app, "[2001:db8:1:3::1]:1", ("GET", "/v1/charges"), &[]).await;
    assert_eq!(elsewhere.status(), 401);
    // public files are not counted and state no quota
    let page = from(&app, "[2001:db8:1:2::1]:1", ("GET", "/client"), &[]).await;
    assert_eq!(
        (page.status().as_u16(), header(page.headers(), "ratelimit")),
        (200, "")
    );
}

/// H15, H25: behind a trusted proxy, each client has its own limit; a client that writes the header
/// itself does not escape its limit.
#[tokio::test]
async fn clients_behind_trusted_proxy_are_told_apart() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.limits = few();
    config.proxies = TrustedProxies::new().with_network("10.0.0.0/8").unwrap();
    let app = Arc::new(App::open(config).await.unwrap());
    let by = async |peer: &str, forwarded: &str| {
        let headers = [("x-forwarded-for", forwarded)];
        from(&app, peer, ("GET", "/v1/charges"), &headers).await
    };
    for spoofed in 1..=5 {
        let chain = format!("192.0.2.{spoofed}, 203.0.113.7");
        assert_eq!(by("10.0.0.1:1", &chain).await.status(), 401);
    }
    expect_429(&by("10.0.0.2:1", "192.0.2.9, 203.0.113.7").await, "address");
    assert_eq!(by("10.0.0.1:1", "203.0.113.8").await.status(), 401);
    // a peer that is no proxy is counted as itself
    expect_429(&by("203.0.113.7:9", "203.0.113.10").await, "address");
}

/// O37, H25: an audit event names the request and the client behind the proxy.
#[tokio::test]
async fn audit_events_name_request_and_client() {
    let (lines, _capturing) = capture(LogFormat::Json);
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.proxies = TrustedProxies::new().with_network("10.0.0.1").unwrap();
    let app = Arc::new(App::open(config).await.unwrap());
    let headers = [("x-forwarded-for", "203.0.113.7"), ("x-request-id", "0197f9a1")];
    let refused = from(
        &app,
        "10.0.0.1:1",
        ("GET", "/authorize?client_id=unknown"),
        &headers,
    )
    .await;
    assert_eq!(refused.status(), 400);
    let events = lines.of("service::auth");
    let event = events.last().unwrap();
    assert_eq!(event.get("reason"), Some(&"client_unknown".into()));
    assert_eq!(event.get("address"), Some(&"203.0.113.7".into()));
    let id = header(refused.headers(), "x-request-id");
    assert_eq!(event.get("request_id"), Some(&id.into()));
}

/// H15: the pages of a sign-in share a bucket per address, separate from the API's: the store of
/// sign-ins stays bounded. A browser gets a page, a program a problem.
#[tokio::test]
async fn sign_ins_and_their_pages_are_limited_by_address() {
    let (app, clock) = limited(few()).await;
    let peer = "203.0.113.7:1000";
    for path in [
        "/login",
        "/account",
        "/password/forgotten",
        "/authorize?client_id=unknown",
    ] {
        let passed = from(&app, peer, ("GET", path), &[]).await;
        assert_ne!(passed.status(), 429, "{path}");
        assert_eq!(header(passed.headers(), "ratelimit-policy"), "\"page\";q=4;w=60");
    }
    let mut wait = Duration::ZERO;
    for (method, path) in [
        ("GET", "/authorize?client_id=demo-native"),
        ("POST", "/authorize"),
        ("GET", "/login"),
        ("POST", "/login"),
        ("POST", "/consent"),
        ("POST", "/password/forgotten"),
        ("GET", "/password/reset?token=guess"),
        ("POST", "/account/password"),
    ] {
        let refused = from(&app, peer, (method, path), &[FORM]).await;
        wait = expect_429(&refused, "page");
        let shown = from(&app, peer, (method, path), &[FORM, HTML]).await;
        expect_wait(&shown, "page");
        let headers = shown.headers();
        assert_eq!(header(headers, "content-type"), "text/html; charset=utf-8");
        assert!(header(headers, "content-security-policy").starts_with("default-src 'none'"));
        assert_eq!(headers.get_all("cache-control").iter().count(), 1);
        assert!(text(&shown).contains("Too many requests"), "{path}");
    }
    let others = [FORM, ("authorization", SERVICE)];
    let token = from(&app, peer, ("POST", "/token"), &others).await;
    assert_eq!(token.status(), 200);
    let elsewhere = from(&app, "203.0.113.8:1000", ("GET", "/login"), &[]).await;
    assert_eq!(elsewhere.status(), 200);
    clock.advance(wait);
    assert_eq!(from(&app, peer, ("GET", "/login"), &[]).await.status(), 200);
}

/// H15: an authenticated caller learns the remaining quota of both buckets, the principal's and the
/// address's.
#[tokio::test]
async fn caller_learns_quota_of_both_buckets() {
    let (app, _clock) = limited(few()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let headers = [("authorization", token.as_str())];
    let passed = from(&app, "203.0.113.7:1000", ("GET", "/v1/charges"), &headers).await;
    let lines: Vec<_> = passed.headers().get_all("ratelimit-policy").iter().collect();
    assert_eq!(lines, ["\"caller\";q=3;w=60", "\"address\";q=5;w=60"]);
    assert_eq!(header(passed.headers(), "ratelimit-remaining"), "2");
}

/// H15: the endpoints of the authorization server share a bucket per address. Their 429 has a JSON
/// body for OAuth clients (RFC 6749 §5.2) instead of a problem, and the usual headers.
#[tokio::test]
async fn the_token_endpoint_is_limited_by_address() {
    let (app, _clock) = limited(few()).await;
    let headers = [FORM, ("authorization", SERVICE)];
    for _ in 0..2 {
        let token = from(&app, "203.0.113.7:1000", ("POST", "/token"), &headers).await;
        assert_eq!(token.status(), 200, "{token:?}");
    }
    for path in ["/token", "/oauth/introspect", "/oauth/revoke", "/par"] {
        let refused = from(&app, "203.0.113.7:2000", ("POST", path), &headers).await;
        expect_wait(&refused, "token");
        assert_eq!(header(refused.headers(), "content-type"), "application/json");
        let told = json(&refused);
        let members: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["error", "error_description"], "{told}");
        assert_eq!(told.get("error").unwrap(), "temporarily_unavailable");
    }
    let elsewhere = from(&app, "203.0.113.8:1000", ("POST", "/token"), &headers).await;
    assert_eq!(elsewhere.status(), 200);
}

/// H15: a limit of zero is a configuration error.
#[tokio::test]
async fn limit_of_zero_is_a_configuration_error() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.limits.of_caller = 0;
    let refused = App::open(config).await.err().unwrap();
    assert_eq!(refused.to_string(), "cannot start the service: the rate limits");
}
