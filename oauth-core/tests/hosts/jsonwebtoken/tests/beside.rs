//! jsonwebtoken and oauth-core in one build.

use oauth_core::vocabulary::AccessTokenTerms;
use std::time::{Duration, SystemTime};

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet, SigningKey};
use oauth_core::ports::OsEntropy;
use oauth_core_host_jsonwebtoken::Claims;

/// An hour into the year 2100, because jsonwebtoken reads the system's clock.
const LATER: u64 = 4_102_448_400;

fn claims() -> Claims {
    Claims {
        sub: "ada".to_owned(),
        exp: LATER,
    }
}

#[test]
fn hmac_token_of_jsonwebtoken_round_trips() {
    let token = encode(&Header::default(), &claims(), &EncodingKey::from_secret(b"secret")).unwrap();
    let decoded = decode::<Claims>(&token, &DecodingKey::from_secret(b"secret"), &Validation::default());
    assert_eq!(decoded.unwrap().claims, claims());
}

#[test]
fn es256_token_of_jsonwebtoken_round_trips() {
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let pem = key.to_pkcs8_pem().unwrap();
    let encoding = EncodingKey::from_ec_pem(pem.expose().as_bytes()).unwrap();
    let token = encode(&Header::new(Algorithm::ES256), &claims(), &encoding).unwrap();
    let decoded = decode::<Claims>(&token, &decoding_key(&key), &Validation::new(Algorithm::ES256));
    assert_eq!(decoded.unwrap().claims, claims());
}

#[test]
fn access_token_is_verified_by_oauth_core_and_jsonwebtoken() {
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let expires_at = SystemTime::UNIX_EPOCH + Duration::from_secs(LATER);
    let now = expires_at - Duration::from_secs(600);
    let issued = access_token(now, expires_at);
    let token = issued.sign(&key).unwrap();

    let policy = AccessTokenPolicy::new(issued.issuer.clone(), "https://api.example".parse().unwrap());
    assert_eq!(AccessTokenClaims::verify(token.expose(), &keys, &policy, now).unwrap(), issued);

    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_audience(&["https://api.example"]);
    let decoded = decode::<Claims>(token.expose(), &decoding_key(&key), &validation);
    assert_eq!(decoded.unwrap().claims, claims());
}

fn access_token(now: SystemTime, expires_at: SystemTime) -> AccessTokenClaims {
    AccessTokenClaims {
        terms: AccessTokenTerms {
            subject: "ada".parse().unwrap(),
            audience: vec!["https://api.example".parse().unwrap()],
            client_id: "demo-web".parse().unwrap(),
            scopes: "read:charges".parse().unwrap(),
            issued_at: now,
            expires_at,
            confirmation: None,
        },
        issuer: "https://as.example".parse().unwrap(),
        jti: "1".to_owned(),
        auth_time: None,
    }
}

fn decoding_key(key: &SigningKey) -> DecodingKey {
    let jwk: jsonwebtoken::jwk::Jwk = serde_json::from_str(&key.public_key().to_json()).unwrap();
    DecodingKey::from_jwk(&jwk).unwrap()
}
