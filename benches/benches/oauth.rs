//! Access tokens, DPoP proofs and PKCE, against jsonwebtoken on the same AWS-LC, and against the
//! signature or hash alone.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

#[path = "oauth/dpop.rs"]
mod dpop;
#[path = "oauth/keys.rs"]
mod keys;
#[path = "oauth/seen.rs"]
mod seen;

use std::hint::black_box;
use std::time::SystemTime;

use aws_lc_rs::rand::SystemRandom;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use criterion::Criterion;
use futures_util::FutureExt as _;
use http::request::Parts;
use jsonwebtoken::Validation;
use oauth_core::{
    jose::{JwtError, SigningKey},
    pkce::CodeVerifier,
    ports::OsEntropy,
    resource::{ChallengeReason, ResourceServer},
};
use sha2::{Digest as _, Sha256};

use crate::keys::{AUDIENCE, Claims, ISSUER, Keys, claims};

fn request(token: &str) -> Parts {
    let request = http::Request::get("/v1/charges").header("authorization", format!("Bearer {token}"));
    request.body(()).expect("a request").into_parts().0
}

/// A resource server without a cache: each token costs its signature.
fn guard(keys: &Keys) -> ResourceServer {
    seen::remembering(keys).with_cache(0)
}

fn authenticate(criterion: &mut Criterion, keys: &Keys) {
    let token = keys.token(SystemTime::now());
    let token = token.as_str();
    let (request, guard) = (request(token), guard(keys));

    let (decoding, parsed) = keys.verifying();
    let mut validation = Validation::new(keys.algorithm());
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    let (message, signature) = token.rsplit_once('.').expect("three parts");
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");

    let mut group = criterion.benchmark_group(format!("oauth/authenticate {}", keys.public.algorithm()));
    group.bench_function("ours", |b| {
        // the peer reads the clock itself
        b.iter(|| {
            guard
                .authenticate(black_box(&request), SystemTime::now())
                .now_or_never()
                .expect("at once")
                .expect("valid")
        });
    });
    group.bench_function("jsonwebtoken", |b| {
        b.iter(|| jsonwebtoken::decode::<Claims>(black_box(token), &decoding, &validation).expect("valid"));
    });
    group.bench_function("floor", |b| {
        let verify = || parsed.verify_sig(black_box(message.as_bytes()), black_box(&signature));
        b.iter(|| verify().expect("valid"));
    });
    group.finish();
}

/// The resource server without the signature check: a signature that is too short is refused for
/// its length, after all other checks.
fn layer(criterion: &mut Criterion, keys: &Keys) {
    let mut token = keys.token(SystemTime::now());
    // fifteen groups of base64: sixty bytes
    token.truncate(token.len() - 6);
    let (request, guard) = (request(&token), guard(keys));
    let why = guard.authenticate(&request, SystemTime::now());
    let why = why.now_or_never().expect("at once");
    let refused = ChallengeReason::InvalidToken(JwtError::SignatureMismatch);
    assert_eq!(why.expect_err("refused").reason(), &refused);
    let (_, parsed) = keys.verifying();

    let mut group = criterion.benchmark_group("oauth/layer");
    group.bench_function("ours", |b| {
        b.iter(|| {
            guard
                .authenticate(black_box(&request), SystemTime::now())
                .now_or_never()
                .is_some_and(|answer| answer.is_err())
        });
    });
    group.bench_function("floor", |b| {
        b.iter(|| {
            parsed
                .verify_sig(black_box(b"message"), black_box(&[0; 60]))
                .is_err()
        });
    });
    group.finish();
}

fn issue(criterion: &mut Criterion, keys: &Keys) {
    let Some(key) = &keys.ours else { return };
    let ours = claims(SystemTime::now());
    let token = ours.sign(key).expect("signed");
    let (message, _) = token.expose().rsplit_once('.').expect("three parts");
    let (_, payload) = message.split_once('.').expect("two parts");
    let payload = BASE64_URL_SAFE_NO_PAD.decode(payload).expect("base64");
    let theirs: Claims = serde_json::from_slice(&payload).expect("the same claims");
    let (header, encoding) = keys.signing();
    let random = SystemRandom::new();

    let mut group = criterion.benchmark_group(format!("oauth/issue {}", keys.public.algorithm()));
    group.bench_function("ours", |b| {
        b.iter(|| black_box(&ours).sign(key).expect("signed"));
    });
    group.bench_function("jsonwebtoken", |b| {
        b.iter(|| jsonwebtoken::encode(&header, black_box(&theirs), &encoding).expect("signed"));
    });
    group.bench_function("floor", |b| {
        b.iter(|| keys.sign_raw(&random, black_box(message.as_bytes())));
    });
    group.finish();
}

fn pkce(criterion: &mut Criterion) {
    let text = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let verifier: CodeVerifier = text.parse().expect("a verifier");
    let challenge = verifier.challenge();
    assert!(challenge.matches(&verifier));

    let mut group = criterion.benchmark_group("oauth/pkce");
    group.bench_function("ours, challenge", |b| b.iter(|| black_box(&verifier).challenge()));
    group.bench_function("ours, parse and match", |b| {
        b.iter(|| {
            let presented: CodeVerifier = black_box(text).parse().expect("a verifier");
            challenge.matches(&presented)
        });
    });
    group.bench_function("floor", |b| b.iter(|| Sha256::digest(black_box(text))));
    group.finish();
}

fn main() {
    let mut criterion = benches::criterion();
    let es256 = Keys::new(SigningKey::generate_es256(&OsEntropy).expect("a key"));
    let eddsa = Keys::new(SigningKey::generate_ed25519(&OsEntropy).expect("a key"));
    let rs256 = Keys::rsa();
    layer(&mut criterion, &eddsa);
    for keys in [&es256, &eddsa, &rs256] {
        authenticate(&mut criterion, keys);
        issue(&mut criterion, keys);
    }
    seen::again(&mut criterion, &eddsa);
    for keys in [&es256, &eddsa] {
        dpop::proof(&mut criterion, keys);
    }
    pkce(&mut criterion);
    criterion.final_summary();
}
