//! Sender and receiver of every scheme, and a message between them.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::HeaderMap;
use webhook_core::{
    ports::entropy_fn,
    receiver::{Verifier, VerifyFailure},
    secret::SigningSecret,
    signature::{Signer, Signers, ed25519::SecretKey},
};

pub(crate) const BODY: &str =
    r#"{"id":"evt_1","type":"charge.created","created":1700000000,"data":{"object":{}}}"#;
pub(crate) const SECONDS: u64 = 1_700_000_000;

pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(SECONDS)
}

pub(crate) fn clock() -> ManualClock {
    ManualClock::new(now())
}

pub(crate) fn secret(byte: u8) -> SigningSecret {
    SigningSecret::from_bytes(&[byte; 32]).unwrap()
}

pub(crate) fn key(byte: u8) -> SecretKey {
    SecretKey::generate(&entropy_fn(|bytes| bytes.fill(byte)))
}

/// Signer and verifier of every scheme.
pub(crate) fn pairs() -> [(Signer, Verifier); 4] {
    [
        (
            Signer::timestamp_body_hex(&secret(1)),
            Verifier::timestamp_body_hex(secret(1)),
        ),
        (
            Signer::id_timestamp_body_hex(&secret(1)),
            Verifier::id_timestamp_body_hex(secret(1)),
        ),
        (
            Signer::standard_webhooks(&secret(1)),
            Verifier::standard_webhooks(secret(1)),
        ),
        (Signer::ed25519(&key(1)), Verifier::ed25519(key(1).public_key())),
    ]
}

pub(crate) fn signed(signers: impl Into<Signers>, at: SystemTime, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    signers
        .into()
        .sign(&"evt_1".parse().unwrap(), at, body)
        .insert_into(&mut headers);
    headers
}

pub(crate) fn reason(verifier: &Verifier, headers: &HeaderMap, body: &[u8]) -> Option<VerifyFailure> {
    verifier
        .verify(headers, Bytes::copy_from_slice(body), now())
        .err()
        .map(|error| error.reason())
}
