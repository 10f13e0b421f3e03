//! Tokens that are bound to a key of their client.

mod bound;
mod faults;
mod nonces;
mod userinfo;

use oauth_core::ports::entropy_fn;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use oauth_core::dpop::{HEADER, Proof, SignedProof};
use oauth_core::jose::SigningKey;
use oauth_core::memory::{MemoryReplays, MemoryTokens};
use oauth_core::ports::OsEntropy;
use oauth_core::server::{AuthorizationServerBuilder, EndpointResponse};
use serde_json::Value;

use super::fixture::{Fixture, Pairs, Tokens, basic, post, redemption};

const TOKEN: &str = "https://auth.example/token";
const PAR: &str = "https://auth.example/par";

fn fixture() -> Fixture {
    fixture_with(|builder| builder)
}

fn fixture_with(configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder) -> Fixture {
    Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        configure(builder.with_replays(MemoryReplays::new()))
    })
}

fn key(byte: u8) -> SigningKey {
    SigningKey::generate_es256(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).unwrap()
}

fn jkt(key: &SigningKey) -> String {
    key.public_key().thumbprint().to_string()
}

/// A proof for the token endpoint, with a fresh `jti`.
fn made(fixture: &Fixture) -> Proof {
    Proof::new(Method::POST, TOKEN.parse().unwrap(), &OsEntropy, fixture.now())
}

fn signed(fixture: &Fixture, key: &SigningKey) -> SignedProof {
    made(fixture).sign(key).unwrap()
}

/// The request, with the proof if there is one.
fn proving(mut request: Request<Bytes>, proof: Option<&SignedProof>) -> Request<Bytes> {
    if let Some(proof) = proof {
        request.headers_mut().insert(HEADER, proof.to_header());
    }
    request
}

/// Sends a POST of `web` to the token endpoint.
async fn token(fixture: &Fixture, pairs: &Pairs<'_>, proof: Option<&SignedProof>) -> EndpointResponse {
    let request = proving(post(basic("web"), pairs), proof);
    fixture.server.token(request).await
}

/// Signs in with `web`; the tokens are bound to the key.
async fn sign_in(fixture: &Fixture, key: &SigningKey) -> Tokens {
    let code = fixture.code().await;
    let proof = signed(fixture, key);
    Tokens::of(&token(fixture, &redemption(&code), Some(&proof)).await)
}

fn refresh(token: &str) -> Pairs<'_> {
    vec![("grant_type", "refresh_token"), ("refresh_token", token)]
}

/// A client credentials request of `service`.
fn on_its_own(proof: Option<&SignedProof>) -> Request<Bytes> {
    let pairs = [("grant_type", "client_credentials"), ("scope", "read:charges")];
    proving(post(basic("service"), &pairs), proof)
}

fn claims(jwt: &str) -> Value {
    use base64::Engine;
    let payload = jwt.split('.').nth(1).unwrap();
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(payload)
        .unwrap();
    serde_json::from_slice(&payload).unwrap()
}

fn of_native(pairs: &[(&str, &str)], proof: Option<&SignedProof>) -> Request<Bytes> {
    let pairs = [pairs, &[("client_id", "native")]].concat();
    proving(post(HeaderMap::new(), &pairs), proof)
}
