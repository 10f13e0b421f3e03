//! Attacks on tokens. Each forgery is signed correctly, unless the test is about the signature.

mod access_token;
mod client_assertion;
mod header;
mod id_token;
mod logout_token;
mod purpose;
mod serialization;
mod vectors;

use crate::ports::entropy_fn;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;
use crate::secret::AccessToken;

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";
/// Header and claims of a valid token.
const CLAIMS: &str = r#""iss":"https://as.example","sub":"ada","aud":"https://api.example","client_id":"demo-web","jti":"1","iat":1800000000,"exp":1800000600,"scope":"read:charges""#;
const ID_CLAIMS: &str =
    r#""iss":"https://as.example","sub":"ada","aud":"demo-web","iat":1800000000,"exp":1800000600"#;
const ASSERTION: &str = r#""iss":"demo-web","sub":"demo-web","aud":"https://as.example","jti":"1","iat":1800000000,"exp":1800000060"#;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key() -> SigningKey {
    SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap()
}

fn keys() -> KeySet {
    KeySet::new([key().public_key().clone()]).unwrap()
}

fn header(typ: &str) -> String {
    format!(r#"{{"alg":"ES256","typ":"{typ}","kid":"{}"}}"#, key().key_id())
}

fn forge(header: &str, claims: &str) -> String {
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(claims)
    );
    format!(
        "{signed}.{}",
        URL_SAFE_NO_PAD.encode(key().sign(signed.as_bytes()).unwrap())
    )
}

fn verify_at(token: &str, now: SystemTime) -> Result<AccessTokenClaims, JwtError> {
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    AccessTokenClaims::verify(token, &keys(), &policy.with_leeway(Duration::ZERO), now)
}

fn refusal(token: &str) -> JwtError {
    verify_at(token, now()).expect_err(token)
}

fn id_policy() -> IdTokenPolicy {
    IdTokenPolicy::new(ISSUER.parse().unwrap(), "demo-web".parse().unwrap()).with_leeway(Duration::ZERO)
}

fn verify_id(token: &str, policy: &IdTokenPolicy) -> Result<IdTokenClaims, JwtError> {
    IdTokenClaims::verify(token, &keys(), policy, now())
}

fn verify_assertion(token: &str) -> Result<ClientAssertion, JwtError> {
    let policy = ClientAssertionPolicy::new(ISSUER.parse().unwrap(), "demo-web".parse().unwrap());
    ClientAssertion::verify(token, &keys(), &policy, now())
}

/// Returns the claims with `member` replaced or added.
fn with(claims: &str, member: &str) -> String {
    let name = member.split(':').next().unwrap();
    let kept = claims.split(",\"").enumerate().map(|(index, text)| {
        if index == 0 {
            text.to_owned()
        } else {
            format!("\"{text}")
        }
    });
    let kept: Vec<String> = kept
        .filter(|text| !text.starts_with(&format!("{name}:")))
        .collect();
    format!("{{{},{member}}}", kept.join(","))
}

fn without(claims: &str, name: &str) -> String {
    with(claims, &format!("\"{name}\":0")).replace(&format!(",\"{name}\":0"), "")
}
