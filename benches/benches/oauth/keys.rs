//! The keys of the tokens, and the tokens.

use oauth_core::vocabulary::AccessTokenTerms;
use std::time::{Duration, SystemTime};

use aws_lc_rs::{
    rand::SystemRandom,
    rsa::{self, KeySize},
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
        KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, VerificationAlgorithm,
    },
};
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{DecodingKey, EncodingKey, Header};
use oauth_core::{
    jose::{AccessTokenClaims, Algorithm, Jwk, SigningKey},
    ports::OsEntropy,
};
use serde::{Deserialize, Serialize};

pub(crate) const ISSUER: &str = "https://as.example";
pub(crate) const AUDIENCE: &str = "https://api.example";
const RSA_KEY: &str = "rsa-2026-11";

/// The claims as a user of jsonwebtoken declares them.
#[derive(Deserialize, Serialize)]
pub(crate) struct Claims {
    iss: String,
    sub: String,
    aud: String,
    client_id: String,
    jti: String,
    iat: u64,
    exp: u64,
    scope: String,
}

/// One key for all measured libraries.
pub(crate) struct Keys {
    pub(crate) public: Jwk,
    /// `None` for RSA, which ours verifies and does not sign with.
    pub(crate) ours: Option<SigningKey>,
    pkcs8: Vec<u8>,
    raw: RawKey,
}

enum RawKey {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(rsa::KeyPair),
}

impl Keys {
    pub(crate) fn new(ours: SigningKey) -> Self {
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

    pub(crate) fn rsa() -> Self {
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

    /// An access token that all libraries accept.
    pub(crate) fn token(&self, now: SystemTime) -> String {
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

    /// The public key in AWS-LC's form.
    pub(crate) fn raw_public(&self) -> (&'static dyn VerificationAlgorithm, &[u8]) {
        match &self.raw {
            RawKey::Es256(key) => (&ECDSA_P256_SHA256_FIXED, key.public_key().as_ref()),
            RawKey::EdDsa(key) => (&ED25519, key.public_key().as_ref()),
            RawKey::Rs256(key) => (&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref()),
        }
    }

    pub(crate) fn verifying(&self) -> (DecodingKey, ParsedPublicKey) {
        let (algorithm, public) = self.raw_public();
        let decoding = match self.raw {
            RawKey::Es256(_) => DecodingKey::from_ec_der(public),
            RawKey::EdDsa(_) => DecodingKey::from_ed_der(public),
            RawKey::Rs256(_) => DecodingKey::from_rsa_der(public),
        };
        (decoding, ParsedPublicKey::new(algorithm, public).expect("a key"))
    }

    pub(crate) fn algorithm(&self) -> jsonwebtoken::Algorithm {
        match self.raw {
            RawKey::Es256(_) => jsonwebtoken::Algorithm::ES256,
            RawKey::EdDsa(_) => jsonwebtoken::Algorithm::EdDSA,
            RawKey::Rs256(_) => jsonwebtoken::Algorithm::RS256,
        }
    }

    pub(crate) fn signing(&self) -> (Header, EncodingKey) {
        let key = match self.raw {
            RawKey::EdDsa(_) => EncodingKey::from_ed_der(&self.pkcs8),
            _ => EncodingKey::from_ec_der(&self.pkcs8),
        };
        let mut header = Header::new(self.algorithm());
        header.typ = Some("at+jwt".to_owned());
        header.kid = self.public.key_id().map(ToOwned::to_owned);
        (header, key)
    }

    pub(crate) fn sign_raw(&self, random: &SystemRandom, message: &[u8]) -> Vec<u8> {
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

pub(crate) fn claims(now: SystemTime) -> AccessTokenClaims {
    AccessTokenClaims {
        terms: AccessTokenTerms {
            subject: "user-7".parse().expect("a subject"),
            audience: vec![AUDIENCE.parse().expect("an audience")],
            client_id: "demo-web".parse().expect("a client"),
            scopes: "read:charges write:charges".parse().expect("scopes"),
            issued_at: now,
            expires_at: now + Duration::from_secs(3600),
            confirmation: None,
        },
        issuer: ISSUER.parse().expect("an issuer"),
        jti: "01JD2Q8M7XK3A5V9".to_owned(),
        auth_time: None,
    }
}
