//! Remote key sets: the JWKS client, its cache and its rate limit.

mod api;
mod callers;
mod faults;
mod lifetime;
mod rotation;

use oauth_core::vocabulary::AccessTokenTerms;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use oauth_core::jose::{
    AccessTokenClaims, AccessTokenPolicy, JwtError, KeySet, RemoteKeySet, SigningKey, VerifyError,
};
use oauth_core::ports::{Transport, TransportError, entropy_fn, transport_fn};
use tokio::sync::Semaphore;

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";
const JWKS: &str = "https://as.example/jwks";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const TICK: Duration = Duration::from_nanos(1);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key(seed: u8) -> SigningKey {
    SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(seed))).unwrap()
}

fn document(seeds: &[u8]) -> String {
    let keys = seeds.iter().map(|seed| key(*seed).public_key().clone());
    KeySet::new(keys).unwrap().to_json()
}

fn token(seed: u8, at: SystemTime) -> String {
    let claims = AccessTokenClaims {
        terms: AccessTokenTerms {
            subject: "ada".parse().unwrap(),
            audience: vec![API.parse().unwrap()],
            client_id: "web".parse().unwrap(),
            scopes: "read:charges".parse().unwrap(),
            issued_at: at,
            expires_at: at + MINUTE,
            confirmation: None,
        },
        issuer: ISSUER.parse().unwrap(),
        jti: "1".to_owned(),
        auth_time: None,
    };
    claims.sign(&key(seed)).unwrap().expose().to_owned()
}

/// A response of the issuer: status (0 for none), `Cache-Control` and body.
#[derive(Clone)]
struct StubResponse(u16, &'static str, String);

fn published(seeds: &[u8]) -> StubResponse {
    StubResponse(200, "", document(seeds))
}

/// An issuer with settable responses, which counts its requests.
#[derive(Clone)]
struct Issuer {
    answer: Arc<Mutex<StubResponse>>,
    asked: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Issuer {
    fn publishing(seeds: &[u8]) -> Self {
        Self::with(published(seeds), 1000)
    }

    /// An issuer that waits until the gate is opened.
    fn closed(seeds: &[u8]) -> Self {
        Self::with(published(seeds), 0)
    }

    fn with(answer: StubResponse, permits: usize) -> Self {
        Self {
            answer: Arc::new(Mutex::new(answer)),
            asked: Arc::default(),
            gate: Arc::new(Semaphore::new(permits)),
        }
    }

    fn says(&self, answer: StubResponse) {
        *self.answer.lock().unwrap() = answer;
    }

    fn publishes(&self, seeds: &[u8]) {
        self.says(published(seeds));
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    async fn answer(self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        assert_eq!(
            (request.method().as_str(), request.uri().to_string().as_str()),
            ("GET", JWKS)
        );
        assert_eq!(
            request.headers()["accept"],
            "application/jwk-set+json, application/json"
        );
        assert_eq!((request.headers().len(), request.body().len()), (1, 0));
        self.asked.fetch_add(1, Ordering::SeqCst);
        // the response is fixed before the wait
        let StubResponse(status, cache_control, body) = self.answer.lock().unwrap().clone();
        self.gate.acquire().await.unwrap().forget();
        if status == 0 {
            return Err(TransportError::other("the cable is out"));
        }
        let response = Response::builder().status(status).header("location", JWKS);
        let response = match cache_control {
            "" => response,
            value => response.header("cache-control", value),
        };
        Ok(response.body(body.into()).unwrap())
    }

    fn transport(&self) -> Arc<dyn Transport> {
        let issuer = self.clone();
        Arc::new(transport_fn(move |request| issuer.clone().answer(request)))
    }

    fn keys(&self) -> RemoteKeySet {
        RemoteKeySet::new(JWKS.parse().unwrap(), self.transport())
    }
}

/// Verifies a token of this key; `None` without keys.
async fn verify(keys: &RemoteKeySet, seed: u8, now: SystemTime) -> Option<Result<(), JwtError>> {
    let token = token(seed, now);
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    let check = |keys: &KeySet| AccessTokenClaims::verify(&token, keys, &policy, now);
    match keys.verify(check, now).await {
        Ok(claims) => {
            assert_eq!(claims.terms.subject.as_str(), "ada");
            Some(Ok(()))
        }
        Err(VerifyError::Refused(error)) => Some(Err(error)),
        Err(VerifyError::KeysUnavailable(_)) => None,
        Err(other) => unreachable!("{other}"),
    }
}

const PASSES: Option<Result<(), JwtError>> = Some(Ok(()));
const UNKNOWN: Option<Result<(), JwtError>> = Some(Err(JwtError::UnknownKey));
