//! Access tokens of common issuers, each under its own profile and under the others.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod neighbours;
mod shapes;

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use futures_util::FutureExt;
use http::Request;
use oauth_core::jose::{IssuerProfile, Jwk, JwtError, KeySet};
use oauth_core::resource::{AuthenticatedToken, ChallengeReason, ResourceServer};
use oauth_core::vocabulary::ClientId;
use serde_json::{Value, json};

use self::shapes::Shape;

const API: &str = "https://api.example";
const CLIENT: &str = "0oa1gjh63g214q0Hq0g4";
const NOW: u64 = 1_800_000_000;

/// The issuer of each profile's tokens.
fn issuer(profile: &str) -> String {
    format!("https://{profile}.example/tenant")
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

fn keys() -> KeySet {
    let x = URL_SAFE_NO_PAD.encode(key().verifying_key().as_bytes());
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": "1" });
    KeySet::new([Jwk::parse(jwk.to_string().as_bytes()).unwrap()]).unwrap()
}

fn signed((header, claims): Shape) -> String {
    let header = set(set(header, "alg", json!("EdDSA")), "kid", json!("1"));
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = format!("{header}.{claims}");
    let signature = URL_SAFE_NO_PAD.encode(key().sign(text.as_bytes()).to_bytes());
    format!("{text}.{signature}")
}

fn client() -> ClientId {
    CLIENT.parse().unwrap()
}

fn api(of: &str, profile: IssuerProfile) -> ResourceServer {
    let issuer = issuer(of).parse().unwrap();
    ResourceServer::new(issuer, API.parse().unwrap(), keys()).with_issuer_profile(profile)
}

fn present(api: &ResourceServer, shape: Shape) -> Result<AuthenticatedToken, JwtError> {
    present_text(api, &signed(shape))
}

fn present_text(api: &ResourceServer, token: &str) -> Result<AuthenticatedToken, JwtError> {
    let request = Request::get("/charges").header("authorization", format!("Bearer {token}"));
    let (head, ()) = request.body(()).unwrap().into_parts();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    let authenticated = api.authenticate(&head, now).now_or_never().unwrap();
    authenticated.map_err(|challenge| match challenge.reason() {
        ChallengeReason::InvalidToken(error) => *error,
        other => panic!("{other:?}"),
    })
}

/// Changes one claim; `null` removes it.
fn with((header, claims): Shape, name: &str, value: Value) -> Shape {
    (header, set(claims, name, value))
}

/// Changes one member; `null` removes it.
fn set(mut document: Value, name: &str, value: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        members.insert(name.to_owned(), value);
        members.retain(|_, value| !value.is_null());
    }
    document
}

/// Name, profile, and a token of each issuer.
fn issuers() -> Vec<(&'static str, IssuerProfile, Shape)> {
    vec![
        ("rfc9068", IssuerProfile::rfc9068(), shapes::rfc9068()),
        ("keycloak", IssuerProfile::keycloak(), shapes::keycloak()),
        ("auth0", IssuerProfile::auth0(), shapes::auth0()),
        ("auth0", IssuerProfile::auth0(), shapes::auth0_machine()),
        ("okta", IssuerProfile::okta(), shapes::okta()),
        ("entra", IssuerProfile::entra_id(), shapes::entra()),
        ("entra", IssuerProfile::entra_id(), shapes::entra_v1()),
        ("cognito", IssuerProfile::cognito([client()]), shapes::cognito()),
    ]
}

/// O31: each issuer's token passes under its own profile, with client, scopes, roles and tenant.
#[test]
fn token_of_each_issuer_passes_under_its_profile() {
    for (name, profile, shape) in issuers() {
        let token = present(&api(name, profile), shape.clone()).unwrap();
        assert_eq!(token.client_id().as_str(), CLIENT, "{name}");
        assert!(token.scopes().contains_str("read:charges"), "{name}");
        let has_roles = name != "rfc9068" && shape.1.get("gty").is_none();
        assert_eq!(token.roles().contains(&"clerk".to_owned()), has_roles, "{name}");
        assert_eq!(token.principal().has_role("clerk"), has_roles, "{name}");
        assert_eq!(token.tenant().is_some(), name == "entra");
        let jti = shape.1.get("jti").and_then(Value::as_str).unwrap_or_default();
        assert_eq!(token.token_id(), jti, "{name}");
    }
}

/// O31: under the profile of RFC 9068, the default, the token of no other issuer passes.
#[test]
fn no_other_token_passes_by_default() {
    for (name, _, shape) in issuers() {
        let default = present(&api(name, IssuerProfile::rfc9068()), shape);
        assert_eq!(default.is_ok(), name == "rfc9068", "{name}");
    }
}

/// O31: tokens of another shape are refused, even from the configured issuer.
#[test]
fn token_of_another_issuers_shape_is_refused() {
    for (own, profile, _) in issuers() {
        for (other, _, shape) in issuers() {
            // one of Auth0's two token profiles is RFC 9068
            if own == other || (other, own) == ("rfc9068", "auth0") {
                continue;
            }
            let shape = with(shape, "iss", json!(issuer(own)));
            let accepted = present(&api(own, profile.clone()), shape);
            assert!(accepted.is_err(), "a token of {other} under {own}");
        }
    }
}

/// O31: no profile drops the check of issuer, audience, times or signature.
#[test]
fn no_profile_drops_a_check() {
    for (name, profile, shape) in issuers() {
        let api = api(name, profile);
        let refused =
            |claim: &str, value: Value| present(&api, with(shape.clone(), claim, value)).unwrap_err();
        assert_eq!(
            refused("iss", json!("https://evil.example")),
            JwtError::WrongIssuer,
            "{name}"
        );
        let audience = if name == "keycloak" {
            JwtError::NoAudienceMapper
        } else {
            JwtError::WrongAudience
        };
        for other in [json!("https://other.example"), json!([]), json!([CLIENT])] {
            assert_eq!(refused("aud", other), audience, "{name}");
        }
        assert_eq!(refused("exp", json!(NOW - 60)), JwtError::Expired, "{name}");
        assert_eq!(refused("iat", json!(NOW + 60)), JwtError::NotYetValid, "{name}");
        assert_eq!(refused("nbf", json!(NOW + 60)), JwtError::NotYetValid, "{name}");
        for claim in ["iss", "sub", "iat", "exp"] {
            assert_eq!(refused(claim, Value::Null), JwtError::Malformed, "{name} {claim}");
        }
        for (claim, value) in [
            ("sub", json!(1)),
            ("aud", json!([1])),
            ("aud", json!({ "a": API })),
            ("exp", json!("1800000300")),
        ] {
            assert_eq!(refused(claim, value), JwtError::Malformed, "{name} {claim}");
        }
        if name != "cognito" {
            assert!(
                present(&api, with(shape.clone(), "aud", Value::Null)).is_err(),
                "{name}"
            );
        }
        let (header, claims) = shape;
        for typ in ["dpop+jwt", "logout+jwt", "client-authentication+jwt", "text/JWT"] {
            let header = set(header.clone(), "typ", json!(typ));
            let refusal = present(&api, (header, claims.clone())).unwrap_err();
            assert_eq!(refusal, JwtError::WrongType, "{name} {typ}");
        }
    }
}

/// O31: the ID tokens of an issuer are no access tokens, even with the audience of the API.
#[test]
fn id_token_is_no_access_token() {
    for (name, profile, shape) in [
        ("keycloak", IssuerProfile::keycloak(), shapes::keycloak_id_token()),
        ("auth0", IssuerProfile::auth0(), shapes::auth0_id_token()),
        ("okta", IssuerProfile::okta(), shapes::okta_id_token()),
        ("entra", IssuerProfile::entra_id(), shapes::entra_id_token()),
        (
            "cognito",
            IssuerProfile::cognito([client()]),
            shapes::cognito_id_token(),
        ),
        ("auth0", IssuerProfile::custom(), shapes::auth0_id_token()),
    ] {
        let api = api(name, profile);
        assert_eq!(
            present(&api, shape.clone()).unwrap_err(),
            JwtError::WrongType,
            "{name}"
        );
        let for_api = with(shape, "aud", json!(API));
        assert_eq!(present(&api, for_api).unwrap_err(), JwtError::WrongType, "{name}");
    }
    for (name, profile, shape) in issuers() {
        if name == "rfc9068" {
            continue;
        }
        let api = api(name, profile);
        for claim in ["nonce", "at_hash", "c_hash", "events"] {
            let marked = with(shape.clone(), claim, json!("x"));
            assert_eq!(
                present(&api, marked).unwrap_err(),
                JwtError::WrongType,
                "{name} {claim}"
            );
        }
    }
}

/// O31: a token of Keycloak's defaults is refused with a reason that names the audience mapper.
#[test]
fn keycloak_without_audience_mapper_is_diagnosed() {
    let api = api("keycloak", IssuerProfile::keycloak());
    let refusal = present(&api, shapes::keycloak_by_default()).unwrap_err();
    assert_eq!(refusal, JwtError::NoAudienceMapper);
    assert!(refusal.to_string().contains("audience mapper"));
}

/// O31: a token of Cognito passes for listed clients alone, and its audiences must name the API.
#[test]
fn cognito_accepts_listed_clients_alone() {
    let of = |clients: &[&str]| {
        let clients: Vec<ClientId> = clients.iter().map(|client| client.parse().unwrap()).collect();
        api("cognito", IssuerProfile::cognito(clients))
    };
    assert!(present(&of(&["another", CLIENT]), shapes::cognito()).is_ok());
    for clients in [&[] as &[&str], &["another"], &["0oa1gjh63g214q0Hq0g"]] {
        let refusal = present(&of(clients), shapes::cognito()).unwrap_err();
        assert_eq!(refusal, JwtError::WrongAudience);
    }
    let bound = with(shapes::cognito(), "aud", json!([API]));
    assert!(present(&of(&[CLIENT]), bound).is_ok());
}

/// O31: a custom profile takes the usual claims, but not for an API whose audience is a client.
#[test]
fn custom_profile_takes_usual_claims() {
    let api = |audience: &str| {
        let issuer = issuer("auth0").parse().unwrap();
        ResourceServer::new(issuer, audience.parse().unwrap(), keys())
            .with_issuer_profile(IssuerProfile::custom())
    };
    let token = present(&api(API), shapes::auth0_machine()).unwrap();
    assert_eq!(token.client_id().as_str(), CLIENT);
    let own = with(shapes::auth0_machine(), "aud", json!(CLIENT));
    assert_eq!(present(&api(CLIENT), own).unwrap_err(), JwtError::WrongAudience);
}
