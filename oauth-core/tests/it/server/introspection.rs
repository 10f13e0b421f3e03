//! The introspection endpoint.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use host_ports::testing::SeededEntropy;
use http::HeaderMap;
use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet, SigningKey, SigningKeys};
use oauth_core::memory::MemoryTokens;
use serde_json::json;

use super::fixture::{API, Fixture, ISSUER, Tokens, assert_error, basic, codes, post};

/// O12, 60, 62: the response for an active access token has every documented member.
#[tokio::test]
async fn an_active_access_token_is_described() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let pairs = [
        ("token", tokens.access.as_str()),
        ("token_type_hint", "access_token"),
    ];
    let mut told = fixture.introspect_as("api", &pairs).await;
    let jti = told.as_object_mut().unwrap().remove("jti").unwrap();
    assert!(jti.as_str().is_some_and(|jti| jti.len() >= 22));
    let expected = json!({
        "active": true,
        "scope": "openid read:charges write:charges",
        "client_id": "web",
        "username": "ada@example.com",
        "token_type": "Bearer",
        "exp": 1_800_000_600,
        "iat": 1_800_000_000,
        "auth_time": 1_799_999_995,
        "sub": "ada",
        "aud": API,
        "iss": ISSUER,
    });
    assert_eq!(told, expected);
}

/// O12: the response to the byte: `scope` and `aud` are strings, times are numbers.
#[tokio::test]
async fn introspection_response_matches_to_the_byte() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let ask = |token: &str| fixture.server.introspect(post(basic("web"), &[("token", token)]));
    let expected = r#"{"active":true,"scope":"openid read:charges write:charges","client_id":"web","username":"ada@example.com","exp":1801209600,"iat":1800000000,"sub":"ada","aud":"https://api.example","iss":"https://auth.example"}"#;
    assert_eq!(ask(&tokens.refresh).await.response.body(), expected.as_bytes());
    assert_eq!(
        ask("unknown").await.response.body(),
        br#"{"active":false}"#.as_slice()
    );
}

/// O12: a refresh token is described to its own client, without a token type.
#[tokio::test]
async fn an_active_refresh_token_is_described_to_its_client() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let told = fixture.introspect(&tokens.refresh).await;
    assert_eq!(told["active"], true);
    assert_eq!(told["exp"], 1_800_000_000 + 14 * 24 * 60 * 60);
    assert!(told.get("token_type").is_none() && told.get("jti").is_none());
    for stranger in ["api", "other", "service"] {
        let told = fixture
            .introspect_as(stranger, &[("token", &tokens.refresh)])
            .await;
        assert_eq!(told, json!({ "active": false }), "{stranger}");
    }
}

/// O12, 60: a caller sees only tokens that are meant for it; of others it learns nothing.
#[tokio::test]
async fn a_caller_sees_only_tokens_meant_for_it() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    for (caller, sees) in [
        ("web", true),
        ("api", true),
        ("other", false),
        ("other-api", false),
        ("service", false),
    ] {
        let told = fixture.introspect_as(caller, &[("token", &tokens.access)]).await;
        if sees {
            assert_eq!(told["active"], true, "{caller}");
        } else {
            assert_eq!(told, json!({ "active": false }), "{caller}");
        }
    }
}

/// O12, 61: unknown, malformed, expired, rotated and revoked tokens are all exactly
/// `{"active":false}`.
#[tokio::test]
async fn inactive_token_response_has_no_detail() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    let forged = format!("{}A", first.access);
    let flipped = first.access.replacen('.', "..", 1);
    let long = "x".repeat(32 * 1024);
    for token in [
        &first.refresh,
        "unknown",
        "a.b.c",
        "caf\u{e9}",
        "\0",
        &forged,
        &flipped,
        &long,
    ] {
        for hint in ["access_token", "refresh_token", "saml2"] {
            let told = fixture
                .introspect_as("web", &[("token", token), ("token_type_hint", hint)])
                .await;
            assert_eq!(told, json!({ "active": false }), "{token:.20}");
        }
    }
    fixture
        .clock
        .advance(Duration::from_secs(600) - Duration::from_nanos(1));
    assert!(fixture.is_active(&second.access).await);
    fixture.clock.advance(Duration::from_nanos(1));
    assert!(!fixture.is_active(&second.access).await);
}

/// O12: an ECDSA signature can be changed into another valid one. A token in that form is unknown,
/// so that it cannot survive the revocation of the original.
#[tokio::test]
async fn a_rewritten_signature_is_an_unknown_token() {
    let key = SigningKey::generate_es256(&SeededEntropy::new(5)).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_signing_keys(SigningKeys::new(key))
    });
    let tokens = fixture.sign_in().await;
    let rewritten = with_other_signature(&tokens.access);
    assert_ne!(rewritten, tokens.access);
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    assert!(AccessTokenClaims::verify(&rewritten, &keys, &policy, fixture.now()).is_ok());
    assert!(fixture.is_active(&tokens.access).await);
    assert!(!fixture.is_active(&rewritten).await);
    let answer = fixture.revoke_as("web", &[("token", &rewritten)]).await;
    assert_eq!(answer.response.status(), 200);
    assert!(fixture.is_active(&tokens.access).await);
}

/// The same ES256 token with `n - s` in place of `s`.
fn with_other_signature(token: &str) -> String {
    const ORDER: [u8; 32] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
        0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ];
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let mut signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let mut borrow = false;
    for (byte, order) in signature.iter_mut().rev().zip(ORDER.iter().rev()) {
        let (difference, first) = order.overflowing_sub(*byte);
        let (difference, second) = difference.overflowing_sub(borrow.into());
        (*byte, borrow) = (difference, first | second);
    }
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// O12, 47, 61: the tokens of a removed client are inactive for the API.
#[tokio::test]
async fn tokens_of_removed_client_are_inactive() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let itself = fixture
        .token_as("service", &vec![("grant_type", "client_credentials")])
        .await;
    for (client, token) in [("web", tokens.access), ("service", Tokens::of(&itself).access)] {
        let ask = async || fixture.introspect_as("api", &[("token", &token)]).await;
        assert_eq!(ask().await["active"], true, "{client}");
        assert!(fixture.clients.remove(&client.parse().unwrap()));
        assert_eq!(ask().await, json!({ "active": false }), "{client}");
    }
}

/// O12, 61: a wrong `token_type_hint` does not hide a token.
#[tokio::test]
async fn a_wrong_hint_does_not_hide_a_token() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    for hint in ["access_token", "refresh_token", "something_else", ""] {
        for token in [&tokens.access, &tokens.refresh] {
            let told = fixture
                .introspect_as("web", &[("token", token), ("token_type_hint", hint)])
                .await;
            assert_eq!(told["active"], true, "{hint}");
        }
    }
}

/// O12, 60: a caller without valid credentials gets 401 with a challenge; a public client is
/// refused, too.
#[tokio::test]
async fn only_an_authenticated_caller_may_ask() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let token = ("token", tokens.access.as_str());
    for request in [
        post(HeaderMap::new(), &[token]),
        post(HeaderMap::new(), &[token, ("client_id", "native")]),
        post(HeaderMap::new(), &[token, ("client_id", "web")]),
        post(basic("unregistered"), &[token]),
    ] {
        let answer = fixture.server.introspect(request).await;
        assert_error(&answer, 401, "invalid_client");
        assert_eq!(codes(&answer.events), ["client_authentication_failed"]);
    }
}
