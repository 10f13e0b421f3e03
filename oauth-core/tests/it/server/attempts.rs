//! Rate limit of client authentication: failed attempts, and the waits that follow.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request};
use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy, Source};
use oauth_core::basic::BasicCredentials;
use oauth_core::memory::{MemoryAttempts, MemoryTokens};
use oauth_core::ports::StoreError;
use oauth_core::server::{AuthEventKind, EndpointResponse};
use oauth_core::store::{AttemptStore, GrantType};

use super::fixture::{Fixture, assert_error, basic, codes, json, post, reason, secret};

const CLIENT_CREDENTIALS: (&str, &str) = ("grant_type", "client_credentials");
const WAIT: Duration = Duration::from_secs(60);

fn guarded() -> Fixture {
    let five = NonZeroU32::new(5).unwrap();
    let policy = AttemptPolicy::new(five, 10 * WAIT).with_backoff(WAIT, 2 * WAIT);
    Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_attempts(MemoryAttempts::new(), policy)
    })
}

fn wrong(client: &str) -> HeaderMap {
    let credentials = BasicCredentials {
        client_id: client.parse().unwrap(),
        secret: secret("a guess"),
    };
    HeaderMap::from_iter([(AUTHORIZATION, credentials.to_header())])
}

fn from(address: &str, headers: HeaderMap) -> Request<Bytes> {
    let mut request = post(headers, &[CLIENT_CREDENTIALS]);
    let source = Source::new(address.parse().unwrap());
    request.extensions_mut().insert(source);
    request
}

async fn ask(fixture: &Fixture, headers: HeaderMap) -> EndpointResponse {
    fixture.server.token(post(headers, &[CLIENT_CREDENTIALS])).await
}

async fn close(fixture: &Fixture, client: &str) {
    for _ in 0..5 {
        assert_error(&ask(fixture, wrong(client)).await, 401, "invalid_client");
    }
}

fn assert_waits(answer: &EndpointResponse, wait: &str) {
    assert_error(answer, 429, "temporarily_unavailable");
    assert_eq!(answer.response.headers()["retry-after"], wait);
    assert!(!answer.response.headers().contains_key("www-authenticate"));
    assert_eq!(codes(&answer.events), ["attempts_exceeded"]);
    assert_eq!(reason(answer), "too_many_attempts");
}

/// O27, O26, 14: five wrong guesses; then wrong and right secrets wait alike, until the exact
/// instant.
#[tokio::test]
async fn a_client_that_guesses_waits() {
    let fixture = guarded();
    close(&fixture, "service").await;
    let answer = ask(&fixture, wrong("service")).await;
    assert_waits(&answer, "60");
    assert_eq!(
        json(&answer.response),
        serde_json::json!({ "error": "temporarily_unavailable" })
    );
    assert_eq!(answer.events[0].kind, AuthEventKind::AttemptsExceeded);
    assert_eq!(answer.events[0].client_id.as_ref().unwrap().as_str(), "service");
    assert_waits(&ask(&fixture, basic("service")).await, "60");
    fixture.clock.set(fixture.now() + WAIT - Duration::from_nanos(1));
    assert_waits(&ask(&fixture, basic("service")).await, "1");
    fixture.clock.set(fixture.now() + Duration::from_nanos(1));
    assert_eq!(ask(&fixture, basic("service")).await.response.status(), 200);
    // a successful authentication does not clear the guesses of others
    assert_error(&ask(&fixture, wrong("service")).await, 401, "invalid_client");
    assert_waits(&ask(&fixture, wrong("service")).await, "120");
}

/// O27, 10, 14: an unknown client waits as a known one does, whatever its authentication method.
#[tokio::test]
async fn unknown_client_waits_as_known_one() {
    let fixture = guarded();
    for client in ["service", "unregistered", "poster", "native"] {
        close(&fixture, client).await;
        let answer = ask(&fixture, wrong(client)).await;
        assert_waits(&answer, "60");
        assert_eq!(*answer.response.body(), r#"{"error":"temporarily_unavailable"}"#);
    }
}

/// O27, 14: guesses at all endpoints count together.
#[tokio::test]
async fn guesses_count_at_every_endpoint() {
    let fixture = guarded();
    let guess = || post(wrong("web"), &[("token", "at_x")]);
    let server = &fixture.server;
    for answer in [
        server.token(guess()).await,
        server.introspect(guess()).await,
        server.revoke(guess()).await,
        server.par(guess()).await,
        server.token(guess()).await,
    ] {
        assert_error(&answer, 401, "invalid_client");
    }
    let right = || post(basic("web"), &[("token", "at_x")]);
    for answer in [
        server.token(right()).await,
        server.introspect(right()).await,
        server.revoke(right()).await,
        server.par(right()).await,
    ] {
        assert_waits(&answer, "60");
    }
}

/// O27, 14: 32 concurrent guesses get five answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_32_guesses_five_are_answered() {
    let fixture = guarded();
    let guesses = (0..32).map(|_| {
        let server = fixture.server.clone();
        let request = post(wrong("service"), &[CLIENT_CREDENTIALS]);
        tokio::spawn(async move { server.token(request).await })
    });
    let answers = join_all(guesses).await;
    let statuses = answers
        .into_iter()
        .map(|answer| answer.unwrap().response.status().as_u16());
    let statuses: Vec<_> = statuses.collect();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 5);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 27);
}

/// O27, 14: a client with the right secret is never counted, whatever its number of concurrent
/// requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn client_with_right_secret_never_waits() {
    let fixture = guarded();
    let requests = (0..200).map(|_| {
        let server = fixture.server.clone();
        let request = post(basic("service"), &[CLIENT_CREDENTIALS]);
        tokio::spawn(async move { server.token(request).await })
    });
    for answer in join_all(requests).await {
        assert_eq!(answer.unwrap().response.status(), 200);
    }
    close(&fixture, "service").await;
}

/// O27, 14: guesses do not make other clients wait, nor the same client from another source, nor
/// clients without a secret.
#[tokio::test]
async fn guesses_delay_only_the_guessed_client() {
    let fixture = guarded();
    for _ in 0..5 {
        let answer = fixture.server.token(from("192.0.2.1", wrong("service"))).await;
        assert_error(&answer, 401, "invalid_client");
    }
    let answer = fixture.server.token(from("192.0.2.1", basic("service"))).await;
    assert_waits(&answer, "60");
    for request in [
        from("192.0.2.2", basic("service")),
        post(basic("service"), &[CLIENT_CREDENTIALS]),
    ] {
        assert_eq!(fixture.server.token(request).await.response.status(), 200);
    }
    close(&fixture, "native").await;
    let refresh = [
        ("grant_type", "refresh_token"),
        ("client_id", "native"),
        ("refresh_token", "rt_x"),
    ];
    let answer = fixture.server.token(post(HeaderMap::new(), &refresh)).await;
    assert_error(&answer, 400, "invalid_grant");
}

/// O27, 14: a client id alone, no credentials, a malformed secret and two methods are not counted.
#[tokio::test]
async fn request_without_usable_secret_is_not_counted() {
    let fixture = guarded();
    fixture
        .change_client("poster", |client| client.with_grant_types(GrantType::ALL))
        .await;
    let requests = [
        post(HeaderMap::new(), &[CLIENT_CREDENTIALS, ("client_id", "poster")]),
        post(HeaderMap::new(), &[CLIENT_CREDENTIALS]),
        post(
            HeaderMap::new(),
            &[
                CLIENT_CREDENTIALS,
                ("client_id", "poster"),
                ("client_secret", "\u{e9}"),
            ],
        ),
        post(
            basic("poster"),
            &[CLIENT_CREDENTIALS, ("client_secret", "two at once")],
        ),
    ];
    for request in requests {
        for _ in 0..6 {
            let answer = fixture.server.token(request.clone()).await;
            assert!(answer.response.status().is_client_error());
            assert_ne!(answer.response.status(), 429);
        }
    }
    let secret = secret("poster");
    let right = [
        CLIENT_CREDENTIALS,
        ("client_id", "poster"),
        ("client_secret", secret.expose()),
    ];
    let answer = fixture.server.token(post(HeaderMap::new(), &right)).await;
    assert_eq!(answer.response.status(), 200);
}

/// O27: without a rate limit nothing waits.
#[tokio::test]
async fn without_rate_limit_nothing_waits() {
    let fixture = Fixture::new();
    for _ in 0..50 {
        assert_error(&ask(&fixture, wrong("service")).await, 401, "invalid_client");
    }
    assert_eq!(ask(&fixture, basic("service")).await.response.status(), 200);
}

struct Down;

#[async_trait::async_trait]
impl AttemptStore for Down {
    async fn admit(&self, _: &AttemptKey, _: &AttemptPolicy, _: SystemTime) -> Result<Admission, StoreError> {
        Err(StoreError::unavailable("down"))
    }

    async fn standing(&self, _: &AttemptKey, _: SystemTime) -> Result<Admission, StoreError> {
        Err(StoreError::unavailable("down"))
    }

    async fn forgive(&self, _: &AttemptKey) -> Result<(), StoreError> {
        Err(StoreError::unavailable("down"))
    }

    async fn purge_attempts(&self, _: SystemTime) -> Result<u64, StoreError> {
        Err(StoreError::unavailable("down"))
    }
}

/// O27, O26: if the attempt store is down, the answer is 503.
#[tokio::test]
async fn attempt_store_that_is_down_is_a_503() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_attempts(Down, AttemptPolicy::CLIENTS)
    });
    for headers in [wrong("service"), basic("service")] {
        let answer = ask(&fixture, headers).await;
        assert_error(&answer, 503, "temporarily_unavailable");
        assert!(answer.fault.is_some());
    }
}
