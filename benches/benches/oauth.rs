//! Access tokens and PKCE, against jsonwebtoken on the same AWS-LC, and against nothing but the signature.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::hint::black_box;
use std::time::{Duration, SystemTime};

use aws_lc_rs::{
    rand::SystemRandom,
    rsa::{self, KeySize},
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
        KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256,
    },
};
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use criterion::Criterion;
use futures_util::FutureExt as _;
use http::request::Parts;
use jsonwebtoken::{DecodingKey, EncodingKey, Header, Validation};
use oauth_core::{
    jose::{AccessTokenClaims, Algorithm, Jwk, JwtError, KeySet, SigningKey},
    pkce::CodeVerifier,
    ports::OsEntropy,
    resource::{ChallengeReason, ResourceServer},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const RSA_KEY: &str = "rsa-2026-11";
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

/// One key in the hands of everybody who is measured.
struct Keys {
    public: Jwk,
    /// None for RSA, which ours verifies and never signs with.
    ours: Option<SigningKey>,
    pkcs8: Vec<u8>,
    raw: RawKey,
}

enum RawKey {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(rsa::KeyPair),
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
            public: ours.public_key().clone(),
            ours: Some(ours),
            pkcs8,
            raw,
        }
    }

    fn rsa() -> Self {
        let pair = rsa::KeyPair::generate(KeySize::Rsa2048).expect("a key");
        let number = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let n = number(pair.public_key().modulus().big_endian_without_leading_zero());
        let e = number(pair.public_key().exponent().big_endian_without_leading_zero());
        let public = format!(r#"{{"kty":"RSA","kid":"{RSA_KEY}","n":"{n}","e":"{e}"}}"#);
        Self {
            public: Jwk::parse(public.as_bytes()).expect("a key"),
            ours: None,
            pkcs8: Vec::new(),
            raw: RawKey::Rs256(pair),
        }
    }

    /// An access token that everybody believes.
    fn token(&self, now: SystemTime) -> String {
        let claims = claims(now);
        if let Some(key) = &self.ours {
            return claims.sign(key).expect("signed").expose().to_owned();
        }
        let other = SigningKey::generate_ed25519(&OsEntropy).expect("a key");
        let token = claims.sign(&other).expect("signed");
        let payload = token.expose().split('.').nth(1).expect("three parts");
        let header = format!(r#"{{"alg":"RS256","typ":"at+jwt","kid":"{RSA_KEY}"}}"#);
        let mut token = format!("{}.{payload}", BASE64_URL_SAFE_NO_PAD.encode(header));
        let signature = self.sign_raw(&SystemRandom::new(), token.as_bytes());
        token.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        token
    }

    fn verifying(&self) -> (DecodingKey, ParsedPublicKey) {
        let parsed = |algorithm, key: &[u8]| ParsedPublicKey::new(algorithm, key).expect("a key");
        match &self.raw {
            RawKey::Es256(key) => {
                let point = key.public_key().as_ref();
                (
                    DecodingKey::from_ec_der(point),
                    parsed(&ECDSA_P256_SHA256_FIXED, point),
                )
            }
            RawKey::EdDsa(key) => {
                let point = key.public_key().as_ref();
                (DecodingKey::from_ed_der(point), parsed(&ED25519, point))
            }
            RawKey::Rs256(key) => {
                let document = key.public_key().as_ref();
                (
                    DecodingKey::from_rsa_der(document),
                    parsed(&RSA_PKCS1_2048_8192_SHA256, document),
                )
            }
        }
    }

    fn algorithm(&self) -> jsonwebtoken::Algorithm {
        match self.raw {
            RawKey::Es256(_) => jsonwebtoken::Algorithm::ES256,
            RawKey::EdDsa(_) => jsonwebtoken::Algorithm::EdDSA,
            RawKey::Rs256(_) => jsonwebtoken::Algorithm::RS256,
        }
    }

    fn signing(&self) -> (Header, EncodingKey) {
        let key = match self.raw {
            RawKey::EdDsa(_) => EncodingKey::from_ed_der(&self.pkcs8),
            _ => EncodingKey::from_ec_der(&self.pkcs8),
        };
        let mut header = Header::new(self.algorithm());
        header.typ = Some("at+jwt".to_owned());
        header.kid = self.public.key_id().map(ToOwned::to_owned);
        (header, key)
    }

    fn sign_raw(&self, random: &SystemRandom, message: &[u8]) -> Vec<u8> {
        match &self.raw {
            RawKey::Es256(key) => key.sign(random, message).expect("signed").as_ref().to_vec(),
            RawKey::EdDsa(key) => key.sign(message).as_ref().to_vec(),
            RawKey::Rs256(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, random, message, &mut signature)
                    .expect("signed");
                signature
            }
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
        confirmation: None,
    }
}

fn request(token: &str) -> Parts {
    let request = http::Request::get("/v1/charges").header("authorization", format!("Bearer {token}"));
    request.body(()).expect("a request").into_parts().0
}

fn guard(keys: &Keys) -> ResourceServer {
    ResourceServer::new(
        ISSUER.parse().expect("an issuer"),
        AUDIENCE.parse().expect("an audience"),
        KeySet::new([keys.public.clone()]).expect("a set"),
    )
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

/// The guard without the signature: one that is too short is refused for its length, after everything else was checked.
fn layer(criterion: &mut Criterion, keys: &Keys) {
    let mut token = keys.token(SystemTime::now());
    // fifteen whole groups of base64: sixty bytes
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
    pkce(&mut criterion);
    criterion.final_summary();
}
