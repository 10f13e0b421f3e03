//! Access tokens and PKCE, against jsonwebtoken on the same AWS-LC, and against nothing but the signature.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::hint::black_box;
use std::time::{Duration, SystemTime};

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
        KeyPair as _, ParsedPublicKey,
    },
};
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use criterion::Criterion;
use jsonwebtoken::{DecodingKey, EncodingKey, Header, Validation};
use oauth_core::{
    jose::{AccessTokenClaims, Algorithm, KeySet, SigningKey},
    pkce::CodeVerifier,
    ports::OsEntropy,
    resource::ResourceServer,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const ISSUER: &str = "https://as.example";
const AUDIENCE: &str = "https://api.example";

/// The claims as a user of jsonwebtoken writes them.
#[derive(Deserialize, Serialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: String,
    client_id: String,
    jti: String,
    iat: u64,
    exp: u64,
    scope: String,
}

/// One signing key in the hands of everybody who is measured.
struct Keys {
    algorithm: Algorithm,
    ours: SigningKey,
    pkcs8: Vec<u8>,
    raw: RawKey,
}

enum RawKey {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

impl Keys {
    fn new(ours: SigningKey) -> Self {
        let pem = ours.to_pkcs8_pem().expect("a key of our own");
        let text = pem.expose().lines().filter(|line| !line.starts_with('-'));
        let pkcs8 = BASE64_STANDARD.decode(text.collect::<String>()).expect("base64");
        let raw = match ours.algorithm() {
            Algorithm::Es256 => RawKey::Es256(
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &pkcs8).expect("a key"),
            ),
            _ => RawKey::EdDsa(Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pkcs8).expect("a key")),
        };
        Self {
            algorithm: ours.algorithm(),
            ours,
            pkcs8,
            raw,
        }
    }

    fn verifying(&self) -> (DecodingKey, ParsedPublicKey) {
        match &self.raw {
            RawKey::Es256(key) => {
                let point = key.public_key().as_ref();
                let parsed = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).expect("a key");
                (DecodingKey::from_ec_der(point), parsed)
            }
            RawKey::EdDsa(key) => {
                let point = key.public_key().as_ref();
                let parsed = ParsedPublicKey::new(&ED25519, point).expect("a key");
                (DecodingKey::from_ed_der(point), parsed)
            }
        }
    }

    fn signing(&self) -> (Header, EncodingKey) {
        let (algorithm, key) = match self.raw {
            RawKey::Es256(_) => (
                jsonwebtoken::Algorithm::ES256,
                EncodingKey::from_ec_der(&self.pkcs8),
            ),
            RawKey::EdDsa(_) => (
                jsonwebtoken::Algorithm::EdDSA,
                EncodingKey::from_ed_der(&self.pkcs8),
            ),
        };
        let mut header = Header::new(algorithm);
        header.typ = Some("at+jwt".to_owned());
        header.kid = Some(self.ours.key_id().to_owned());
        (header, key)
    }

    fn sign_raw(&self, random: &SystemRandom, message: &[u8]) -> usize {
        match &self.raw {
            RawKey::Es256(key) => key.sign(random, message).expect("signed").as_ref().len(),
            RawKey::EdDsa(key) => key.sign(message).as_ref().len(),
        }
    }
}

fn claims(now: SystemTime) -> AccessTokenClaims {
    AccessTokenClaims {
        issuer: ISSUER.parse().expect("an issuer"),
        subject: "user-7".parse().expect("a subject"),
        audience: vec![AUDIENCE.parse().expect("an audience")],
        client_id: "demo-web".parse().expect("a client"),
        scopes: "read:charges write:charges".parse().expect("scopes"),
        jti: "01JD2Q8M7XK3A5V9".to_owned(),
        issued_at: now,
        expires_at: now + Duration::from_secs(3600),
        auth_time: None,
    }
}

fn authenticate(criterion: &mut Criterion, keys: &Keys) {
    let now = SystemTime::now();
    let token = claims(now).sign(&keys.ours).expect("signed");
    let token = token.expose();
    let bearer = format!("Bearer {token}");
    let request = http::Request::get("/v1/charges").header("authorization", bearer);
    let (request, ()) = request.body(()).expect("a request").into_parts();
    let set = KeySet::new([keys.ours.public_key().clone()]).expect("a set");
    let guard = ResourceServer::new(
        ISSUER.parse().expect("an issuer"),
        AUDIENCE.parse().expect("an audience"),
        set,
    );

    let (decoding, parsed) = keys.verifying();
    let mut validation = Validation::new(keys.signing().0.alg);
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    let (message, signature) = token.rsplit_once('.').expect("three parts");
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");

    let mut group = criterion.benchmark_group(format!("oauth/authenticate {}", keys.algorithm));
    group.bench_function("ours", |b| {
        // the peer reads the clock itself
        b.iter(|| {
            guard
                .authenticate(black_box(&request), SystemTime::now())
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

fn issue(criterion: &mut Criterion, keys: &Keys) {
    let ours = claims(SystemTime::now());
    let token = ours.sign(&keys.ours).expect("signed");
    let (message, _) = token.expose().rsplit_once('.').expect("three parts");
    let (_, payload) = message.split_once('.').expect("two parts");
    let payload = BASE64_URL_SAFE_NO_PAD.decode(payload).expect("base64");
    let theirs: Claims = serde_json::from_slice(&payload).expect("the same claims");
    let (header, encoding) = keys.signing();
    let random = SystemRandom::new();

    let mut group = criterion.benchmark_group(format!("oauth/issue {}", keys.algorithm));
    group.bench_function("ours", |b| {
        b.iter(|| black_box(&ours).sign(&keys.ours).expect("signed"));
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
    for keys in [&es256, &eddsa] {
        authenticate(&mut criterion, keys);
        issue(&mut criterion, keys);
    }
    pkce(&mut criterion);
    criterion.final_summary();
}
