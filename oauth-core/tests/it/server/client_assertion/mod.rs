//! Attacks on `private_key_jwt`. Each forgery is signed by the key of the client, unless the
//! signature is what is tested.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod alike;
mod beside;
mod fetched;
mod forged;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use ed25519_dalek::Signer as _;
use futures_util::future::join_all;
use host_ports::testing::SeededEntropy;
use http::{HeaderMap, Request};
use oauth_core::error::Reason;
use oauth_core::jose::{Algorithm, ClientAssertion, Jwk, KeySet, Signer, SigningError, SigningKey};
use oauth_core::memory::{MemoryReplays, MemoryTokens};
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::server::{AuthorizationServer, AuthorizationServerBuilder, EndpointResponse};
use oauth_core::store::{
    ClientAuthentication, ClientKeys, ClientStore, GrantType, RegisteredClient, ReplayStore, SpendOutcome,
};
use oauth_core::vocabulary::RegisteredRedirectUri;
use serde_json::{Value, json};

use super::fixture::{
    API, CALLBACK, CHALLENGE, Fixture, ISSUER, assert_error, basic, codes, json as body, post, reason, secret,
};

const GRANT: (&str, &str) = ("grant_type", "client_credentials");
const TYPE: (&str, &str) = ("client_assertion_type", ClientAssertion::TYPE);
/// The time of the fixture.
const NOW: u64 = 1_800_000_000;

/// A replay store that counts its calls and can be switched off.
#[derive(Default)]
struct Replays {
    store: MemoryReplays,
    asked: AtomicUsize,
    down: AtomicBool,
}

#[async_trait::async_trait]
impl ReplayStore for Replays {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("the disk is full of names"));
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.store.insert_once(key, expires_at, now).await
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.store.purge_replays(now).await
    }
}

/// A signer outside of this process.
struct Ed25519(ed25519_dalek::SigningKey);

impl Signer for Ed25519 {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        Ok(self.0.sign(message).to_bytes().to_vec())
    }
}

fn private_key(seed: u8) -> Ed25519 {
    Ed25519(ed25519_dalek::SigningKey::from_bytes(&[seed; 32]))
}

/// The public key of `seed`. All have one key id, so that only the signature tells them apart.
fn public_key(seed: u8) -> Jwk {
    let x = URL_SAFE_NO_PAD.encode(private_key(seed).0.verifying_key().as_bytes());
    let document = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": "robot's" });
    Jwk::parse(document.to_string().as_bytes()).unwrap()
}

/// A key that the client `robot` is not registered with.
fn other_key() -> SigningKey {
    SigningKey::generate_es256(&SeededEntropy::new(5)).unwrap()
}

fn keyed(id: &str, seed: u8) -> RegisteredClient {
    let keys = KeySet::new([public_key(seed), other_key().public_key().clone()]).unwrap();
    RegisteredClient::keyed(
        id.parse().unwrap(),
        ClientKeys::new(Algorithm::EdDsa, &keys).unwrap(),
    )
    .with_grant_types(GrantType::ALL)
    .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).unwrap())
    .with_scopes("openid read:charges".parse().unwrap())
    .with_audience(API.parse().unwrap())
}

async fn server() -> (Fixture, Arc<Replays>) {
    let replays = Arc::new(Replays::default());
    (of(&replays).await, replays)
}

/// One of several servers that share the replay store `replays`.
async fn of(replays: &Arc<Replays>) -> Fixture {
    configured(replays, |builder| builder).await
}

async fn configured(
    replays: &Arc<Replays>,
    configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder,
) -> Fixture {
    let store = Arc::clone(replays);
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        configure(builder.with_replays(store))
    });
    for client in [keyed("robot", 7), keyed("android", 8)] {
        fixture.clients.put_client(client).await.unwrap();
    }
    fixture
}

fn header() -> Value {
    json!({ "alg": "EdDSA", "typ": "client-authentication+jwt", "kid": "robot's" })
}

fn claims() -> Value {
    json!({ "iss": "robot", "sub": "robot", "aud": ISSUER, "jti": "1", "iat": NOW, "exp": NOW + 60 })
}

/// The document with these members replaced; `null` removes one.
fn with(mut document: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    document
}

fn forge(header: &Value, claims: &Value, key: &dyn Signer) -> String {
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = format!("{header}.{claims}");
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()).unwrap());
    format!("{signed}.{signature}")
}

/// An assertion of `robot` with these claims replaced.
fn assertion(members: &Value) -> String {
    forge(&header(), &with(claims(), members), &private_key(7))
}

fn request(assertion: &str) -> Request<Bytes> {
    post(HeaderMap::new(), &[GRANT, TYPE, ("client_assertion", assertion)])
}

async fn present(server: &AuthorizationServer, assertion: &str) -> EndpointResponse {
    server.token(request(assertion)).await
}

/// Checks that the response is the common 401, and that the host gets this reason.
fn assert_refused(answer: &EndpointResponse, expected: Reason) {
    assert_error(answer, 401, "invalid_client");
    assert_eq!(body(&answer.response), json!({ "error": "invalid_client" }));
    assert_eq!(codes(&answer.events), ["client_authentication_failed"]);
    assert_eq!(reason(answer), expected.code(), "{answer:?}");
}

fn assert_accepted(answer: &EndpointResponse) {
    assert_eq!(answer.response.status(), 200, "{answer:?}");
}

/// O6, O25, 6, 11: a client authenticates by an assertion at every endpoint, with or without
/// `client_id` in the form, by an external signer, and by either of two keys during a rotation.
#[tokio::test]
async fn client_authenticates_by_assertion() {
    let (fixture, replays) = server().await;
    let key = SigningKey::from_signer(&public_key(6), private_key(6));
    let both = KeySet::new([public_key(7), key.public_key().clone()]).unwrap();
    fixture
        .change_client("robot", |mut robot| {
            let keys = ClientKeys::new(Algorithm::EdDsa, &both).unwrap();
            robot.authentication = ClientAuthentication::PrivateKeyJwt(keys);
            robot
        })
        .await;
    let entropy = SeededEntropy::new(3);
    let fresh = || ClientAssertion::new("robot".parse().unwrap(), &entropy, fixture.now());
    let sign = || fresh().sign(&key, fixture.server.issuer()).unwrap();
    let send = |pairs: &[(&str, &str)]| {
        let signed = sign();
        let pairs = [pairs, &[TYPE, ("client_assertion", signed.expose())]].concat();
        post(HeaderMap::new(), &pairs)
    };
    let server = &fixture.server;
    assert_accepted(&server.token(send(&[GRANT])).await);
    assert_accepted(&server.token(send(&[GRANT, ("client_id", "robot")])).await);
    assert_accepted(&server.introspect(send(&[("token", "at_x")])).await);
    assert_accepted(&server.revoke(send(&[("token", "at_x")])).await);
    let pushed = server
        .par(send(&[
            ("response_type", "code"),
            ("client_id", "robot"),
            ("redirect_uri", CALLBACK),
            ("scope", "read:charges"),
            ("state", "s"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ]))
        .await;
    assert_eq!(pushed.response.status(), 201, "{pushed:?}");
    assert_eq!(replays.asked.load(Ordering::Relaxed), 5);
    for typ in [
        json!("JWT"),
        json!("application/client-authentication+jwt"),
        Value::Null,
    ] {
        let claims = with(claims(), &json!({ "jti": typ.to_string() }));
        let token = forge(&with(header(), &json!({ "typ": typ })), &claims, &private_key(7));
        assert_accepted(&present(server, &token).await);
    }
}

/// O6, 11: a second use is a replay, at the same and at any other endpoint.
#[tokio::test]
async fn an_assertion_is_accepted_once() {
    let (fixture, _) = server().await;
    let token = assertion(&json!({}));
    assert_accepted(&present(&fixture.server, &token).await);
    assert_refused(
        &present(&fixture.server, &token).await,
        Reason::ClientAssertionReplayed,
    );
    let pairs = [TYPE, ("client_assertion", token.as_str()), ("token", "at_x")];
    for answer in [
        fixture.server.introspect(post(HeaderMap::new(), &pairs)).await,
        fixture.server.revoke(post(HeaderMap::new(), &pairs)).await,
        fixture.server.par(post(HeaderMap::new(), &pairs)).await,
    ] {
        assert_refused(&answer, Reason::ClientAssertionReplayed);
    }
    // another signature over the same `jti` is the same assertion
    let longer = assertion(&json!({ "exp": NOW + 61 }));
    assert_refused(
        &present(&fixture.server, &longer).await,
        Reason::ClientAssertionReplayed,
    );
    assert_accepted(&present(&fixture.server, &assertion(&json!({ "jti": "2" }))).await);
}

/// O6, 11: of 32 concurrent uses of one assertion one is accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_32_uses_of_an_assertion_is_accepted() {
    let (fixture, _) = server().await;
    let token: Arc<str> = assertion(&json!({})).into();
    let uses = (0..32).map(|_| {
        let (server, token) = (fixture.server.clone(), Arc::clone(&token));
        tokio::spawn(async move { present(&server, &token).await })
    });
    let answers = join_all(uses).await;
    let statuses = answers.iter().flatten().map(|answer| answer.response.status());
    assert_eq!(statuses.clone().filter(|status| *status == 200).count(), 1);
    assert_eq!(statuses.filter(|status| *status == 401).count(), 31);
}

/// O6, 11: a `jti` belongs to its client, so that two clients can use the same one.
#[tokio::test]
async fn two_clients_may_use_one_jti() {
    let (fixture, _) = server().await;
    assert_accepted(&present(&fixture.server, &assertion(&json!({}))).await);
    let claims = with(claims(), &json!({ "iss": "android", "sub": "android" }));
    let token = forge(&header(), &claims, &private_key(8));
    assert_accepted(&present(&fixture.server, &token).await);
}

/// O6, 11: an assertion is remembered until every server refuses it as expired, with the clock
/// tolerance, and no longer.
#[tokio::test]
async fn used_assertion_is_remembered_until_it_expires() {
    let (fixture, replays) = server().await;
    let token = assertion(&json!({}));
    assert_accepted(&present(&fixture.server, &token).await);
    let end = fixture.now() + Duration::from_secs(70);
    fixture.clock.set(end - Duration::from_nanos(1));
    assert_eq!(replays.purge_replays(fixture.now()).await.unwrap(), 0);
    assert_refused(
        &present(&fixture.server, &token).await,
        Reason::ClientAssertionReplayed,
    );
    fixture.clock.set(end);
    assert_refused(
        &present(&fixture.server, &token).await,
        Reason::ClientAssertionExpired,
    );
    let forgotten = end + Duration::from_secs(60);
    let before = forgotten - Duration::from_nanos(1);
    assert_eq!(replays.purge_replays(before).await.unwrap(), 0);
    assert_eq!(replays.purge_replays(forgotten).await.unwrap(), 1);
}

/// O6, 11: of two servers with one store, one with a clock a minute ahead does not make the other
/// accept a replay.
#[tokio::test]
async fn fast_clock_of_one_server_allows_no_replay() {
    let replays = Arc::new(Replays::default());
    let (behind, ahead) = (of(&replays).await, of(&replays).await);
    let token = assertion(&json!({}));
    assert_accepted(&present(&behind.server, &token).await);
    behind
        .clock
        .advance(Duration::from_secs(70) - Duration::from_nanos(1));
    ahead.clock.set(behind.now() + Duration::from_secs(60));
    assert_eq!(replays.purge_replays(ahead.now()).await.unwrap(), 0);
    assert_refused(
        &present(&behind.server, &token).await,
        Reason::ClientAssertionReplayed,
    );
    assert_refused(
        &present(&ahead.server, &token).await,
        Reason::ClientAssertionExpired,
    );
}

/// O6, O26, 11: if the replay store is down, the answer is 503 and the assertion stays usable.
#[tokio::test]
async fn replay_store_down_is_503_and_keeps_assertion() {
    let (fixture, replays) = server().await;
    let token = assertion(&json!({}));
    replays.down.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let answer = present(&fixture.server, &token).await;
        assert_error(&answer, 503, "temporarily_unavailable");
        assert!(answer.response.headers().contains_key("retry-after"));
        assert_eq!(codes(&answer.events), ["server_failed"]);
        assert!(answer.fault.is_some());
    }
    replays.down.store(false, Ordering::Relaxed);
    assert_accepted(&present(&fixture.server, &token).await);
}

/// O6, 11: a server without a replay store refuses assertions and does not offer them.
#[tokio::test]
async fn without_replay_store_assertions_are_refused() {
    let fixture = Fixture::new();
    fixture.clients.put_client(keyed("robot", 7)).await.unwrap();
    let answer = present(&fixture.server, &assertion(&json!({}))).await;
    assert_refused(&answer, Reason::ClientAssertionUnsupported);
}

/// O22: a server with a replay store offers assertions and their algorithms in its metadata.
#[tokio::test]
async fn metadata_offer_assertions_with_replay_store() {
    let (fixture, _) = server().await;
    let request = Request::get("/").body(Bytes::new()).unwrap();
    let document: Value = serde_json::from_slice(fixture.server.metadata(&request).body()).unwrap();
    for (endpoint, is_for_all) in [("token", true), ("introspection", false), ("revocation", true)] {
        let mut methods = vec!["client_secret_basic", "client_secret_post", "private_key_jwt"];
        if is_for_all {
            methods.push("none");
        }
        let prefix = format!("{endpoint}_endpoint_auth");
        assert_eq!(document[format!("{prefix}_methods_supported")], json!(methods));
        let algorithms = &document[format!("{prefix}_signing_alg_values_supported")];
        assert_eq!(
            *algorithms,
            json!([
                "ES256", "ES384", "ES512", "Ed25519", "EdDSA", "RS256", "RS384", "RS512", "PS256", "PS384",
                "PS512"
            ])
        );
    }
}
