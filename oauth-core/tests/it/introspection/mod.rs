//! The guard of a resource server, for opaque tokens.

mod askers;
mod bound;
mod faults;
mod shared;

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::join_all;
use http::request::Parts;
use http::{Method, Request, Response};
use oauth_core::jose::{KeySet, SigningKey};
use oauth_core::memory::MemoryReplays;
use oauth_core::params::Params;
use oauth_core::ports::{Clock, OsEntropy, TransportError, transport_fn};
use oauth_core::resource::{AuthenticatedToken, Challenge, ChallengeReason, Introspection, ResourceServer};
use oauth_core::secret::TokenHash;
use serde_json::{Value, json};

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// An issuer with a settable response, which counts its requests.
#[derive(Clone)]
struct Issuer {
    answer: Arc<Mutex<(u16, String)>>,
    asked: Arc<AtomicUsize>,
    gate: Arc<tokio::sync::Semaphore>,
}

impl Issuer {
    fn new(answer: &Value) -> Self {
        let issuer = Self {
            answer: Arc::default(),
            asked: Arc::default(),
            gate: Arc::new(tokio::sync::Semaphore::new(1000)),
        };
        issuer.says(200, &answer.to_string());
        issuer
    }

    fn says(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (status, body.to_owned());
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    async fn answer(self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        assert_eq!(
            (request.method(), request.uri().to_string()),
            (&Method::POST, format!("{ISSUER}/oauth/introspect"))
        );
        assert_eq!(request.headers()["authorization"], "Basic YXBpOnNlY3JldA==");
        let params = Params::parse(request.body()).unwrap();
        assert!(params.optional("token").is_some());
        self.asked.fetch_add(1, Ordering::SeqCst);
        // the response is fixed before the wait
        let (status, body) = self.answer.lock().unwrap().clone();
        self.gate.acquire().await.unwrap().forget();
        if status == 0 {
            return Err(TransportError::other("the cable is out"));
        }
        Ok(Response::builder().status(status).body(body.into()).unwrap())
    }

    fn introspection(&self) -> Introspection {
        let issuer = self.clone();
        let endpoint = format!("{ISSUER}/oauth/introspect").parse().unwrap();
        let transport = transport_fn(move |request| issuer.clone().answer(request));
        let secret = "secret".parse().unwrap();
        Introspection::new(endpoint, "api".parse().unwrap(), secret, transport)
    }

    fn api(&self) -> ResourceServer {
        api_with(self.introspection())
    }
}

/// An issuer that waits until the gate is opened.
fn closed(answer: &Value) -> Issuer {
    Issuer {
        gate: Arc::new(tokio::sync::Semaphore::new(0)),
        ..Issuer::new(answer)
    }
}

fn api_with(introspection: Introspection) -> ResourceServer {
    let keys = KeySet::new([]).unwrap();
    ResourceServer::new(ISSUER.parse().unwrap(), API.parse().unwrap(), keys).with_introspection(introspection)
}

fn active() -> Value {
    json!({
        "active": true, "scope": "read:charges", "client_id": "web", "token_type": "Bearer", "exp": 1_800_000_600,
        "iat": 1_800_000_000, "sub": "ada", "aud": API, "iss": ISSUER, "jti": "1",
    })
}

fn changed(name: &str, value: Value) -> Value {
    let mut answer = active();
    match value {
        Value::Null => answer.as_object_mut().unwrap().remove(name),
        value => answer.as_object_mut().unwrap().insert(name.to_owned(), value),
    };
    answer
}

fn request(authorization: &str) -> Parts {
    let request = Request::get("/v1/charges").header("authorization", authorization);
    request.body(()).unwrap().into_parts().0
}

async fn present(
    api: &ResourceServer,
    token: &str,
    now: SystemTime,
) -> Result<AuthenticatedToken, Challenge> {
    api.authenticate(&request(&format!("Bearer {token}")), now).await
}

/// O14, O16, O17: the introspection response names the caller and the scopes.
#[tokio::test]
async fn introspection_decides_on_opaque_token() {
    let issuer = Issuer::new(&active());
    let principal = present(&issuer.api(), "at_1", now()).await.unwrap();
    assert_eq!(
        (principal.subject().as_str(), principal.client_id().as_str()),
        ("ada", "web")
    );
    assert_eq!(principal.token_id(), "1");
    assert_eq!(principal.expires_at(), now() + Duration::from_secs(600));
    assert!(principal.require(&"read:charges".parse().unwrap()).is_ok());
    assert_eq!(
        principal
            .require(&"write:charges".parse().unwrap())
            .unwrap_err()
            .status(),
        403
    );

    assert_eq!(principal.auth_time(), None);

    issuer.says(200, &changed("auth_time", json!(1_799_999_940)).to_string());
    let principal = present(&issuer.api(), "at_1", now()).await.unwrap();
    let minute = Duration::from_secs(60);
    assert_eq!(principal.auth_time(), Some(now() - minute));
    for unreadable in [json!("1799999940"), json!(-1.5), json!(-1), json!(true)] {
        issuer.says(200, &changed("auth_time", unreadable).to_string());
        let principal = present(&issuer.api(), "at_1", now()).await.unwrap();
        assert_eq!(principal.auth_time(), None);
    }
    assert!(principal.require_sign_in_within(minute, now()).is_ok());
    assert!(principal.require_sign_in_within(minute / 2, now()).is_err());
    issuer.says(200, &changed("sub", Value::Null).to_string());
    let principal = present(&issuer.api(), "at_1", now()).await.unwrap();
    assert_eq!(principal.subject().as_str(), "web");
    issuer.says(
        200,
        &changed("aud", json!(["https://other.example", API])).to_string(),
    );
    assert!(present(&issuer.api(), "at_1", now()).await.is_ok());
    // a JWT that a known key verifies is not introspected
    let key = SigningKey::generate_ed25519(&OsEntropy).unwrap();
    let both = issuer
        .api()
        .with_keys(KeySet::new([key.public_key().clone()]).unwrap());
    let asked = issuer.asked();
    let refused = present(&both, "a.b.c", now()).await.unwrap_err();
    assert!(matches!(refused.reason(), ChallengeReason::InvalidToken(_)));
    assert_eq!(issuer.asked(), asked);
    assert!(present(&both, "at_1", now()).await.is_ok());
}

/// O12, O14: a token that is inactive, expired, of another issuer or audience, or bound in an
/// unsupported way gets one error to the peer.
#[tokio::test]
async fn inactive_or_foreign_token_is_refused() {
    let thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";
    let refused = [
        json!({ "active": false }),
        changed("active", json!(false)),
        changed("iss", json!("https://evil.com")),
        changed("aud", json!("https://other.example")),
        changed("aud", json!([])),
        changed("aud", Value::Null),
        changed("exp", json!(1_799_999_990)),
        changed("exp", Value::Null),
        changed("nbf", json!(1_800_000_060)),
        changed("client_id", Value::Null),
        changed("cnf", json!({ "kid": "1" })),
        changed("cnf", json!({})),
        changed("token_type", json!("DPoP")),
        changed("token_type", json!("dpop")),
    ];
    for answer in refused {
        let issuer = Issuer::new(&answer);
        let api = issuer.api();
        for asked in 1..=2 {
            let refused = present(&api, "at_1", now()).await.unwrap_err();
            assert_eq!(refused.reason(), &ChallengeReason::InactiveToken, "{answer}");
            let response = refused.into_response();
            assert_eq!(response.status(), 401);
            assert_eq!(
                response.headers()["www-authenticate"],
                r#"Bearer realm="https://api.example", error="invalid_token""#
            );
            // and none of it is cached
            assert_eq!(issuer.asked(), asked);
        }
    }
    let bound = changed("cnf", json!({ "jkt": thumbprint }));
    let refused = present(&Issuer::new(&bound).api(), "at_1", now())
        .await
        .unwrap_err();
    assert_eq!(refused.reason(), &ChallengeReason::WrongScheme);
}

/// O14: an unusable response lets no token pass; the client gets 503, and the host the reason.
#[tokio::test]
async fn unusable_introspection_lets_no_token_pass() {
    for (status, body) in [
        (0, ""),
        (200, ""),
        (200, "[]"),
        (200, r#"{"active":"true"}"#),
        (200, r#"{"active":true,"active":true}"#),
        (200, r#"{}"#),
        (302, r#"{"active":true}"#),
        (401, r#"{"error":"invalid_client"}"#),
        (500, ""),
        (200, &padded(64 * 1024 + 1)),
    ] {
        let issuer = Issuer::new(&active());
        issuer.says(status, body);
        let refused = present(&issuer.api(), "at_1", now()).await.unwrap_err();
        assert_eq!(refused.reason(), &ChallengeReason::Unavailable, "{status} {body}");
        assert!(refused.source().is_some());
        assert_eq!(refused.into_response().status(), 503);
    }
    let issuer = Issuer::new(&active());
    issuer.says(200, &padded(64 * 1024));
    assert!(present(&issuer.api(), "at_1", now()).await.is_ok());
}

/// A valid response of this length.
fn padded(length: usize) -> String {
    let answer = active().to_string();
    let padding = " ".repeat(length - answer.len());
    answer + &padding
}

/// O13, O14: a response is cached for some seconds, until the end of the token or its revocation.
#[tokio::test]
async fn introspection_is_cached_until_revocation() {
    let issuer = Issuer::new(&active());
    let introspection = issuer.introspection();
    let api = api_with(introspection.clone());
    let after = |seconds| now() + Duration::from_secs(seconds);
    for second in [0, 5, 9] {
        assert!(present(&api, "at_1", after(second)).await.is_ok());
        assert_eq!(issuer.asked(), 1);
    }
    assert!(present(&api, "at_1", after(10)).await.is_ok());
    assert_eq!(issuer.asked(), 2);
    assert!(present(&api, "at_2", after(10)).await.is_ok());
    assert_eq!(issuer.asked(), 3);

    issuer.says(200, r#"{"active":false}"#);
    assert!(present(&api, "at_1", after(11)).await.is_ok());
    introspection.forget(&TokenHash::new("at_1"));
    assert!(present(&api, "at_1", after(11)).await.is_err());
    assert!(present(&api, "at_2", after(11)).await.is_ok());
    introspection.forget_all();
    assert!(present(&api, "at_2", after(11)).await.is_err());

    issuer.says(200, &active().to_string());
    let lasting = api_with(issuer.introspection().with_cache(Duration::from_secs(3600), 10));
    assert!(present(&lasting, "at_1", now()).await.is_ok());
    issuer.says(200, r#"{"active":false}"#);
    assert!(present(&lasting, "at_1", after(299)).await.is_ok());
    assert!(present(&lasting, "at_1", after(300)).await.is_err());
    issuer.says(200, &active().to_string());
    let forgetful = api_with(issuer.introspection().with_cache(Duration::from_secs(10), 0));
    let asked = issuer.asked();
    for more in 1..=3 {
        assert!(present(&forgetful, "at_1", now()).await.is_ok());
        assert_eq!(issuer.asked(), asked + more);
    }
}

/// O14: a token that expires during the cache time is introspected again at its end, regardless of
/// the leeway.
#[tokio::test]
async fn introspection_is_not_cached_past_token_expiry() {
    let end = now() + Duration::from_secs(3);
    let issuer = Issuer::new(&changed("exp", json!(1_800_000_003)));
    let api = issuer.api();
    for (at, asked) in [(now(), 1), (end - Duration::from_nanos(1), 1), (end, 2)] {
        assert!(present(&api, "at_1", at).await.is_ok());
        assert_eq!(issuer.asked(), asked);
    }
}

/// O14: 32 concurrent requests with one token send one introspection request; a caller that is
/// dropped does not affect the others.
#[tokio::test]
async fn concurrent_introspections_are_single_flight() {
    let issuer = Issuer::new(&active());
    let api = issuer.api();
    let answers = join_all((0..32).map(|_| present(&api, "at_1", now()))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(issuer.asked(), 1);

    let issuer = closed(&active());
    let api = issuer.api();
    let mut first = Box::pin(present(&api, "at_1", now()));
    let mut second = Box::pin(present(&api, "at_1", now()));
    assert!((&mut first).now_or_never().is_none());
    assert!((&mut second).now_or_never().is_none());
    assert_eq!(issuer.asked(), 1);
    drop(first);
    issuer.gate.add_permits(1);
    assert!(second.await.is_ok());
    // if all callers were dropped, the next one sends a new request
    let mut gone = Box::pin(present(&api, "at_2", now()));
    assert!((&mut gone).now_or_never().is_none());
    drop(gone);
    issuer.gate.add_permits(1);
    assert!(present(&api, "at_2", now()).await.is_ok());
    assert_eq!(issuer.asked(), 3);
}

/// O13: a response that was under way during the revocation is neither cached nor used for later
/// requests.
#[tokio::test]
async fn response_from_before_revocation_is_not_used() {
    for all in [false, true] {
        let issuer = closed(&active());
        let introspection = issuer.introspection();
        let api = api_with(introspection.clone());
        let mut early = Box::pin(present(&api, "at_1", now()));
        assert!((&mut early).now_or_never().is_none());
        issuer.says(200, r#"{"active":false}"#);
        if all {
            introspection.forget_all();
        } else {
            introspection.forget(&TokenHash::new("at_1"));
        }
        issuer.gate.add_permits(10);
        let late = present(&api, "at_1", now()).await;
        assert!(late.is_err(), "asked anew");
        assert!(early.await.is_ok(), "it came before");
        assert!(present(&api, "at_1", now()).await.is_err(), "and was not kept");
    }
}

/// O14: `Debug` output shows neither cached tokens nor credentials.
#[test]
fn introspection_is_redacted_in_debug() {
    let printed = format!("{:?}", Issuer::new(&active()).introspection());
    assert!(
        !printed.contains("YXBp") && !printed.contains("secret"),
        "{printed}"
    );
}
