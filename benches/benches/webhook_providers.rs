//! Verification of requests of named providers, against the MAC alone with a prepared key.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::hint::black_box;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use hmac::{EagerHash, Hmac, Mac as _};
use http::Request;
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use webhook_core::receiver::{Provider, providers};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Size of the body in bytes.
const SIZE: usize = 1024;

/// Providers of each MAC, in different encodings.
const SHA256: [&str; 5] = ["github", "slack", "stripe", "shopify", "square"];
const SHA1: [&str; 1] = ["vercel"];
const SHA512: [&str; 1] = ["paystack"];

fn provider(name: &str) -> Provider {
    providers::named(name).expect("a provider")
}

fn body() -> Bytes {
    let filling = "x".repeat(SIZE - 23);
    format!(r#"{{"id":"evt_1","data":"{filling}"}}"#).into()
}

/// A row for each provider, which verifies its own request and refuses a changed one.
fn rows(group: &mut BenchmarkGroup<'_, WallTime>, names: &[&str]) {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for name in names {
        let provider = provider(name);
        let signer = provider.signer(SECRET).expect("a secret");
        let signer = signer.with_url("https://example.com/hooks");
        let verifier = provider.verifier([SECRET]).expect("a secret");
        let verifier = verifier.with_url("https://example.com/hooks");
        let mut request = Request::post("/hooks").body(body()).expect("a request");
        signer.sign(&mut request, Some("evt_1"), now).expect("signed");
        let body = request.body().clone();
        assert!(verifier.verify(&request, body.clone(), now).is_ok(), "{name}");
        assert!(
            verifier.verify(&request, Bytes::from_static(b"{}"), now).is_err(),
            "{name}"
        );
        group.bench_function(*name, |b| {
            b.iter(|| assert!(verifier.verify(black_box(&request), body.clone(), now).is_ok()));
        });
    }
}

/// The MAC alone: the key is prepared.
fn floor<D: EagerHash>(group: &mut BenchmarkGroup<'_, WallTime>)
where
    Hmac<D>: hmac::Mac + hmac::KeyInit + Clone,
{
    let prepared = <Hmac<D> as hmac::KeyInit>::new_from_slice(SECRET.as_bytes()).expect("a key");
    let body = body();
    let mut whole = prepared.clone();
    whole.update(&body);
    let tag = whole.finalize().into_bytes();
    group.bench_function("floor", |b| {
        b.iter(|| {
            let mut mac = prepared.clone();
            mac.update(black_box(&body));
            mac.verify_slice(black_box(&tag)).expect("valid");
        });
    });
}

fn main() {
    let mut criterion: Criterion = benches::criterion();
    let mut group = criterion.benchmark_group("webhook/providers/HMAC-SHA-256, 1 KiB");
    rows(&mut group, &SHA256);
    floor::<Sha256>(&mut group);
    group.finish();
    let mut group = criterion.benchmark_group("webhook/providers/HMAC-SHA-1, 1 KiB");
    rows(&mut group, &SHA1);
    floor::<Sha1>(&mut group);
    group.finish();
    let mut group = criterion.benchmark_group("webhook/providers/HMAC-SHA-512, 1 KiB");
    rows(&mut group, &SHA512);
    floor::<Sha512>(&mut group);
    group.finish();
    criterion.final_summary();
}
