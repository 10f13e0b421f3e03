//! Opaque access tokens.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use oauth_core::grant::{AccessTokenFormat, AccessTokenLifetime};
use oauth_core::jose::{IdTokenClaims, IdTokenPolicy};
use oauth_core::memory::MemoryTokens;

use super::fixture::{Fixture, ISSUER, Tokens, secret};

fn opaque() -> (Arc<MemoryTokens>, Fixture) {
    let tokens = Arc::new(MemoryTokens::new());
    let fixture = Fixture::with(tokens.clone(), |builder| {
        builder.with_access_token_format(AccessTokenFormat::Opaque)
    });
    (tokens, fixture)
}

/// O14: every grant issues a prefix and 256 random bits, and the store has only the hash.
#[tokio::test]
async fn an_opaque_access_token_is_256_random_bits() {
    let (tokens, fixture) = opaque();
    let first = fixture.sign_in().await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    let client = fixture
        .token_as("service", &vec![("grant_type", "client_credentials")])
        .await;
    let all = BTreeSet::from([first.access, second.access, Tokens::of(&client).access]);
    let kept = format!("{tokens:?} {:?}", secret("web"));
    for token in &all {
        assert!(token.starts_with("at_") && token.len() == 3 + 43, "{token}");
        assert!(!kept.contains(token.as_str()));
    }
    assert_eq!(all.len(), 3);
}

/// O12, O13, O14, 62, 63: the server introspects an opaque token; it is inactive at once after its
/// revocation or the end of its family.
#[tokio::test]
async fn an_opaque_access_token_is_introspected_and_revoked() {
    let (_, fixture) = opaque();
    let (first, other) = (fixture.sign_in().await, fixture.sign_in().await);
    let told = fixture.introspect(&first.access).await;
    assert_eq!((&told["active"], &told["sub"]), (&true.into(), &"ada".into()));
    assert_eq!(told["exp"], 1_800_000_000 + 15 * 60);
    assert!(told["jti"].as_str().is_some_and(|jti| !jti.is_empty()));
    let api = fixture.introspect_as("api", &[("token", &first.access)]).await;
    assert_eq!(api["scope"], told["scope"]);

    let answer = fixture.revoke_as("web", &[("token", &first.access)]).await;
    assert_eq!(answer.response.status(), 200);
    assert!(!fixture.is_active(&first.access).await);
    assert!(fixture.is_active(&first.refresh).await);
    let answer = fixture.revoke_as("web", &[("token", &other.refresh)]).await;
    assert_eq!(answer.response.status(), 200);
    assert!(!fixture.is_active(&other.access).await);
}

/// O14, O21: an opaque token lives 15 minutes by default, up to 60 if configured, to the
/// nanosecond.
#[tokio::test]
async fn an_opaque_access_token_lives_up_to_an_hour() {
    let (_, fixture) = opaque();
    let first = fixture.sign_in().await;
    assert_eq!(first.body["expires_in"], 15 * 60);
    fixture
        .clock
        .advance(Duration::from_secs(15 * 60) - Duration::from_nanos(1));
    assert!(fixture.is_active(&first.access).await);
    fixture.clock.advance(Duration::from_nanos(1));
    assert!(!fixture.is_active(&first.access).await);

    let hour = AccessTokenLifetime::new(AccessTokenLifetime::MAX).unwrap();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder
            .with_access_token_lifetime(hour)
            .with_access_token_format(AccessTokenFormat::Opaque)
    });
    assert_eq!(fixture.sign_in().await.body["expires_in"], 60 * 60);
}

/// O14, O18: `at_hash` of the ID token fits an opaque token as it does a JWT.
#[tokio::test]
async fn an_id_token_names_the_opaque_token_beside_it() {
    let (_, fixture) = opaque();
    let first = fixture.sign_in().await;
    let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap())
        .with_nonce("n-0S6_WzA2Mj".parse().unwrap())
        .with_access_token(first.access.parse().unwrap());
    let id_token = first.body["id_token"].as_str().unwrap();
    assert!(IdTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).is_ok());
}
