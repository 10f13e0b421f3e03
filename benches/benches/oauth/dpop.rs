//! DPoP proofs: the work per request of the client and of the server.

use std::hint::black_box;
use std::time::SystemTime;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::UnparsedPublicKey;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use criterion::Criterion;
use http::{HeaderMap, Method};
use oauth_core::dpop::{HEADER, Htu, Proof, ProofPolicy, Target};
use oauth_core::ports::OsEntropy;

use crate::keys::Keys;

/// Both for a request with an access token, without a nonce. A proof contains its key, so a server
/// cannot parse that in advance: the second floor parses it too.
pub(crate) fn proof(criterion: &mut Criterion, keys: &Keys) {
    let Some(key) = &keys.ours else { return };
    let token = keys.token(SystemTime::now());
    let token = token.as_str();
    let uri: Htu = "https://api.example/v1/charges".parse().expect("a URL");
    let make = |now| {
        let proof = Proof::new(Method::GET, uri.clone(), &OsEntropy, now).with_access_token(token);
        proof.sign(key).expect("signed")
    };
    let target = Target {
        method: &Method::GET,
        uri: &uri,
        access_token: Some(token),
    };
    let policy = ProofPolicy::new();
    let (_, parsed) = keys.verifying();
    let (algorithm, public) = keys.raw_public();
    let random = SystemRandom::new();

    let mut group = criterion.benchmark_group(format!("oauth/dpop {}", keys.public.algorithm()));
    // a proof expires after a minute, so a long measurement needs new ones
    let fresh = || {
        let proof = make(SystemTime::now());
        let headers = HeaderMap::from_iter([(HEADER, proof.to_header())]);
        (proof.expose().to_owned(), headers)
    };
    group.bench_function("ours, verify", |b| {
        let (_, headers) = fresh();
        b.iter(|| {
            policy
                .verify(black_box(&headers), &target, SystemTime::now())
                .expect("valid")
                .replay_key()
        });
    });
    let (text, _) = fresh();
    let (message, signature) = text.rsplit_once('.').expect("three parts");
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");
    group.bench_function("floor, verify", |b| {
        let verify = || parsed.verify_sig(black_box(message.as_bytes()), black_box(&signature));
        b.iter(|| verify().expect("valid"));
    });
    group.bench_function("floor, verify with a new key", |b| {
        b.iter(|| {
            let key = UnparsedPublicKey::new(algorithm, black_box(public));
            key.verify(black_box(message.as_bytes()), black_box(&signature))
                .expect("valid");
        });
    });
    group.bench_function("ours, sign", |b| b.iter(|| make(SystemTime::now())));
    group.bench_function("floor, sign", |b| {
        b.iter(|| keys.sign_raw(&random, black_box(message.as_bytes())));
    });
    group.finish();
}
