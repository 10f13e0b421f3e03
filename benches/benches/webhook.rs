//! Signing and verifying messages of Standard Webhooks, against three other libraries and the MAC
//! alone.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::hint::black_box;
use std::time::SystemTime;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, measurement::WallTime};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::Sha256;
use webhook_core::{
    event::{EventId, Timestamp},
    receiver::Verifier,
    secret::{Keyring, SigningSecret},
    signature::{Signer, Signers},
};
use webhook_verify::{Provider, Secret, VerifyOptions};

const ID: &str = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
const KEY: [u8; 32] = [7; 32];
const SIZES: [usize; 3] = [256, 1024, 64 * 1024];

/// One message for all rows of a group.
struct Message {
    id: EventId,
    timestamp: Timestamp,
    body: Bytes,
    headers: HeaderMap,
    floor: Hmac<Sha256>,
}

type Group<'a> = BenchmarkGroup<'a, WallTime>;

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

    /// The MAC alone: key and signed text are prepared.
    fn mac(&self, timestamp: &str) -> Hmac<Sha256> {
        let mut mac = self.floor.clone();
        for piece in [ID.as_bytes(), b".", timestamp.as_bytes(), b".", &self.body] {
            mac.update(piece);
        }
        mac
    }

    /// The same message with the signature of another secret.
    fn forged(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        let secret = SigningSecret::from_bytes(&[9; 32]).expect("a secret");
        let signers = Signers::from(Signer::standard_webhooks(&secret));
        let signed = signers.sign(&self.id, self.timestamp.into(), &self.body);
        signed.insert_into(&mut headers);
        headers
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

/// The function of a row of verify; it returns `true` if it accepts.
type Verifies<'a> = &'a dyn Fn(&HeaderMap) -> bool;

/// Measures verifiers that accept the message and refuse a forged one.
fn verify_each(group: &mut Group<'_>, message: &Message, size: usize, rows: &[(&str, Verifies<'_>)]) {
    let forged = message.forged();
    for (name, verifies) in rows {
        assert!(verifies(&message.headers) && !verifies(&forged), "{name}");
        group.bench_function(BenchmarkId::new(*name, size), |b| {
            b.iter(|| assert!(verifies(black_box(&message.headers))));
        });
    }
}

fn verify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("webhook/verify");
    let ours = Verifier::standard_webhooks(secret());
    let other = SigningSecret::from_bytes(&[8; 32]).expect("a secret");
    let two_keys = Verifier::standard_webhooks(Keyring::new([other, secret()]).expect("a ring"));
    let standardwebhooks = standardwebhooks::Webhook::from_bytes(KEY.to_vec()).expect("a secret");
    let svix = svix::webhooks::Webhook::from_bytes(KEY.to_vec()).expect("a secret");
    let webhook_verify = Secret::new(secret().expose_whsec());
    for size in SIZES {
        let message = Message::new(size);
        let timestamp = message.header("webhook-timestamp");
        // the peers read the clock themselves, so all but the floor do
        let verified = |verifier: &Verifier, headers: &HeaderMap| {
            let verified = verifier.verify(headers, message.body.clone(), SystemTime::now());
            verified.is_ok_and(|verified| black_box(verified.body()).len() == size)
        };
        let rows: [(&str, Verifies<'_>); 5] = [
            ("ours", &|headers| verified(&ours, headers)),
            ("ours, second of two keys", &|headers| {
                verified(&two_keys, headers)
            }),
            ("standardwebhooks", &|headers| {
                standardwebhooks.verify(&message.body, headers).is_ok()
            }),
            ("svix", &|headers| svix.verify(&message.body, headers).is_ok()),
            ("webhook-verify", &|headers| {
                let (provider, options) = (Provider::StandardWebhooks, VerifyOptions::default());
                webhook_verify::verify(provider, headers, &message.body, &webhook_verify, options).is_ok()
            }),
        ];
        verify_each(&mut group, &message, size, &rows);
        let token = message.header("webhook-signature").strip_prefix("v1,");
        let tag = BASE64_STANDARD.decode(token.expect("a tag")).expect("base64");
        group.bench_function(BenchmarkId::new("floor", size), |b| {
            b.iter(|| {
                let mac = message.mac(black_box(timestamp));
                mac.verify_slice(black_box(&tag)).expect("valid");
            });
        });
    }
    group.finish();
}

/// Returns a signature token.
type Signs<'a> = &'a dyn Fn() -> String;

fn sign(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("webhook/sign");
    let standardwebhooks = standardwebhooks::Webhook::from_bytes(KEY.to_vec()).expect("a secret");
    let svix = svix::webhooks::Webhook::from_bytes(KEY.to_vec()).expect("a secret");
    let signer = signer();
    let signers = Signers::from(signer.clone());
    for size in SIZES {
        let message = Message::new(size);
        let (id, body) = (&message.id, &message.body);
        let seconds = i64::try_from(message.timestamp.as_seconds()).expect("this age");
        let timestamp = message.header("webhook-timestamp");
        let rows: [(&str, Signs<'_>); 3] = [
            ("ours", &|| signer.token(id, message.timestamp, black_box(body))),
            ("standardwebhooks", &|| {
                let token = standardwebhooks.sign(ID, seconds, black_box(body));
                token.expect("signed")
            }),
            ("svix", &|| {
                svix.sign(ID, seconds, black_box(body)).expect("signed")
            }),
        ];
        for (name, signs) in rows {
            assert_eq!(signs(), message.header("webhook-signature"), "{name}");
            group.bench_function(BenchmarkId::new(name, size), |b| b.iter(signs));
        }
        group.bench_function(BenchmarkId::new("ours, all three headers", size), |b| {
            b.iter(|| signers.sign(id, message.timestamp.into(), black_box(body)));
        });
        group.bench_function(BenchmarkId::new("floor", size), |b| {
            b.iter(|| message.mac(black_box(timestamp)).finalize());
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
