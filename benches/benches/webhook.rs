//! Signing and verifying messages of Standard Webhooks, against its reference library and against nothing but the MAC.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::hint::black_box;
use std::time::SystemTime;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::Sha256;
use standardwebhooks::Webhook;
use webhook_core::{
    event::{EventId, Timestamp},
    receiver::Verifier,
    secret::{Keyring, SigningSecret},
    signature::{Signer, Signers},
};

const ID: &str = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
const KEY: [u8; 32] = [7; 32];
const SIZES: [usize; 3] = [256, 1024, 64 * 1024];

/// One message, as everybody in a group gets it.
struct Message {
    id: EventId,
    timestamp: Timestamp,
    body: Bytes,
    headers: HeaderMap,
    floor: Hmac<Sha256>,
}

impl Message {
    fn new(size: usize) -> Self {
        let now = SystemTime::now();
        let id: EventId = ID.parse().expect("an id");
        let frame = r#"{"type":"invoice.paid","data":""}"#.len();
        let body = format!(
            r#"{{"type":"invoice.paid","data":"{}"}}"#,
            "x".repeat(size - frame)
        );
        let body = Bytes::from(body);
        let mut headers = HeaderMap::new();
        let signed = Signers::from(signer()).sign(&id, now, &body);
        signed.insert_into(&mut headers);
        Self {
            id,
            timestamp: now.into(),
            body,
            headers,
            floor: Hmac::new_from_slice(&KEY).expect("a key"),
        }
    }

    /// The MAC alone: the key is worked out beforehand and the signed text is at hand.
    fn mac(&self, timestamp: &str) -> Hmac<Sha256> {
        let mut mac = self.floor.clone();
        for piece in [ID.as_bytes(), b".", timestamp.as_bytes(), b".", &self.body] {
            mac.update(piece);
        }
        mac
    }

    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).expect("a header");
        value.to_str().expect("visible ASCII")
    }
}

fn secret() -> SigningSecret {
    SigningSecret::from_bytes(&KEY).expect("a secret")
}

fn signer() -> Signer {
    Signer::standard_webhooks(&secret())
}

fn verify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("webhook/verify");
    let peer = Webhook::from_bytes(KEY.to_vec()).expect("a secret");
    let ours = Verifier::standard_webhooks(secret());
    let other = SigningSecret::from_bytes(&[8; 32]).expect("a secret");
    let two_keys = Verifier::standard_webhooks(Keyring::new([other, secret()]).expect("a ring"));
    for size in SIZES {
        let message = Message::new(size);
        let timestamp = message.header("webhook-timestamp");
        let signature = message.header("webhook-signature");
        let tag = BASE64_STANDARD
            .decode(signature.strip_prefix("v1,").expect("a tag"))
            .expect("base64");

        // the peer reads the clock itself, so all but the floor do
        let verified = |verifier: &Verifier| {
            let verified = verifier.verify(
                black_box(&message.headers),
                message.body.clone(),
                SystemTime::now(),
            );
            verified.expect("a valid message").body().len()
        };
        group.bench_function(BenchmarkId::new("ours", size), |b| b.iter(|| verified(&ours)));
        group.bench_function(BenchmarkId::new("standardwebhooks", size), |b| {
            b.iter(|| {
                peer.verify(black_box(&message.body), black_box(&message.headers))
                    .expect("valid");
            });
        });
        group.bench_function(BenchmarkId::new("floor", size), |b| {
            b.iter(|| {
                message
                    .mac(black_box(timestamp))
                    .verify_slice(black_box(&tag))
                    .expect("valid");
            });
        });
        group.bench_function(BenchmarkId::new("ours, second of two keys", size), |b| {
            b.iter(|| verified(&two_keys));
        });
    }
    group.finish();
}

fn sign(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("webhook/sign");
    let peer = Webhook::from_bytes(KEY.to_vec()).expect("a secret");
    let signer = signer();
    let signers = Signers::from(signer.clone());
    for size in SIZES {
        let message = Message::new(size);
        let seconds = i64::try_from(message.timestamp.as_seconds()).expect("this age");
        let timestamp = message.header("webhook-timestamp");
        let token = peer.sign(ID, seconds, &message.body).expect("signed");
        assert_eq!(token, signer.token(&message.id, message.timestamp, &message.body));

        group.bench_function(BenchmarkId::new("ours", size), |b| {
            b.iter(|| {
                signer.token(
                    black_box(&message.id),
                    message.timestamp,
                    black_box(&message.body),
                )
            });
        });
        group.bench_function(BenchmarkId::new("standardwebhooks", size), |b| {
            b.iter(|| {
                peer.sign(black_box(ID), seconds, black_box(&message.body))
                    .expect("signed")
            });
        });
        group.bench_function(BenchmarkId::new("floor", size), |b| {
            b.iter(|| message.mac(black_box(timestamp)).finalize());
        });
        group.bench_function(BenchmarkId::new("ours, all three headers", size), |b| {
            b.iter(|| {
                signers.sign(
                    black_box(&message.id),
                    message.timestamp.into(),
                    black_box(&message.body),
                )
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = benches::criterion();
    verify(&mut criterion);
    sign(&mut criterion);
    criterion.final_summary();
}
