//! The retry window: refreshes whose response was lost, and attackers that pretend so.

use std::sync::Arc;
use std::time::Duration;

use host_ports::testing::SeededEntropy;
use oauth_core::grant::{AccessTokenFormat, RetryPepper, RetryWindow};
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::MemoryTokens;
use oauth_core::secret::TokenHash;
use oauth_core::server::{AuthorizationServerBuilder, EndpointResponse};
use oauth_core::store::{RevocationReason, RevokeOutcome, TokenStore};

use super::fixture::{Fixture, Tokens, assert_error, change, codes, reason};

const WINDOW: Duration = Duration::from_secs(10);
const INSTANT: Duration = Duration::from_nanos(1);
const THEFT: [&str; 3] = ["refresh_token_reused", "family_revoked", "request_refused"];
const FORMATS: [AccessTokenFormat; 2] = [AccessTokenFormat::Jwt, AccessTokenFormat::Opaque];

pub(super) fn windowed(builder: AuthorizationServerBuilder, pepper: u8) -> AuthorizationServerBuilder {
    let window = RetryWindow::new(WINDOW).unwrap();
    builder.with_retry_window(window, RetryPepper::from_bytes([pepper; 32]))
}

fn fixture() -> Fixture {
    Fixture::with(Arc::new(MemoryTokens::new()), |builder| windowed(builder, 7))
}

/// A chain whose first token was rotated, and the response.
async fn rotated(fixture: &Fixture) -> (Tokens, EndpointResponse) {
    let first = fixture.sign_in().await;
    let answer = fixture.refresh(&first.refresh).await;
    (first, answer)
}

fn assert_theft(answer: &EndpointResponse) {
    assert_error(answer, 400, "invalid_grant");
    assert_eq!(codes(&answer.events), THEFT);
}

/// O10, 53: a retry within the window gets the first response; from its exact end on, or without a
/// window, it is a reuse.
#[tokio::test]
async fn retry_after_window_revokes_chain() {
    for wait in [WINDOW, 60 * WINDOW] {
        let fixture = fixture();
        let (first, answer) = rotated(&fixture).await;
        fixture.clock.advance(WINDOW - INSTANT);
        let again = fixture.refresh(&first.refresh).await;
        assert_eq!(again.response.body(), answer.response.body());
        fixture.clock.advance(wait - WINDOW + INSTANT);
        assert_theft(&fixture.refresh(&first.refresh).await);
        assert!(!fixture.is_active(&Tokens::of(&answer).refresh).await);
    }
    let none = |builder: AuthorizationServerBuilder| {
        builder.with_retry_window(RetryWindow::NONE, RetryPepper::from_bytes([7; 32]))
    };
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), none);
    let (first, _) = rotated(&fixture).await;
    assert_theft(&fixture.refresh(&first.refresh).await);
}

/// O10, 46, 53: another client is refused within the window, and the chain stays active.
#[tokio::test]
async fn another_client_cannot_retry() {
    let fixture = fixture();
    let (first, answer) = rotated(&fixture).await;
    let pairs = [("grant_type", "refresh_token"), ("refresh_token", &first.refresh)];
    let stranger = fixture.token_as("other", &pairs.to_vec()).await;
    assert_error(&stranger, 400, "invalid_grant");
    assert_eq!(reason(&stranger), "refresh_token_of_another_client");
    let again = fixture.refresh(&first.refresh).await;
    assert_eq!(again.response.body(), answer.response.body());
}

/// O10, 49, 53: a retry with other scopes or resources is a reuse, because the lost response was
/// another.
#[tokio::test]
async fn retry_with_other_parameters_revokes_chain() {
    let scopes = Some("read:charges");
    let wide = "openid read:charges write:charges";
    // each pair: parameters of the first request, and of the retry
    for (at_first, then) in [
        ((None, None), (scopes, None)),
        ((scopes, None), (None, None)),
        ((scopes, None), (Some("openid read:charges"), None)),
        ((None, None), (Some("read:charges email"), None)),
        ((None, None), (None, Some("https://elsewhere.example"))),
    ] {
        let fixture = fixture();
        let first = fixture.sign_in().await;
        let ask = async |(scope, resource)| {
            let pairs = vec![
                ("grant_type", "refresh_token"),
                ("refresh_token", first.refresh.as_str()),
            ];
            let pairs = change(change(pairs, "scope", scope), "resource", resource);
            fixture.token(&pairs).await
        };
        let leaf = Tokens::of(&ask(at_first).await);
        assert_theft(&ask(then).await);
        assert!(!fixture.is_active(&leaf.refresh).await);
        assert!(!fixture.is_active(&leaf.access).await);
    }
    // the same parameters, spelled in another way
    let fixture = fixture();
    let (first, answer) = rotated(&fixture).await;
    let pairs = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", first.refresh.as_str()),
        ("scope", wide),
    ];
    let again = fixture.token(&pairs).await;
    assert_eq!(again.response.body(), answer.response.body());
}

/// O10, 52, 53: the use of the successor ends the window, because the response was not lost.
#[tokio::test]
async fn retry_after_use_of_successor_revokes_chain() {
    let fixture = fixture();
    let (first, answer) = rotated(&fixture).await;
    let third = Tokens::of(&fixture.refresh(&Tokens::of(&answer).refresh).await);
    assert_theft(&fixture.refresh(&first.refresh).await);
    assert!(!fixture.is_active(&third.refresh).await);
}

/// O10, O13, 53: the revocation of the access token of the response ends the window.
#[tokio::test]
async fn retry_after_access_token_revocation_revokes_chain() {
    let fixture = fixture();
    let (first, answer) = rotated(&fixture).await;
    let second = Tokens::of(&answer);
    let answer = fixture.revoke_as("web", &[("token", &second.access)]).await;
    assert_eq!(answer.response.status(), 200);
    assert_theft(&fixture.refresh(&first.refresh).await);
    assert!(!fixture.is_active(&second.refresh).await);
}

/// O10, O13, 47, 53: a revoked family is refused within the window, too.
#[tokio::test]
async fn a_retry_of_a_revoked_family_is_refused() {
    let fixture = fixture();
    let (first, answer) = rotated(&fixture).await;
    let hash = TokenHash::new(&Tokens::of(&answer).refresh);
    let state = fixture.tokens.refresh_token(&hash).await.unwrap().unwrap();
    let revoked = fixture
        .tokens
        .revoke_family(&state.family.id, RevocationReason::Requested, fixture.now())
        .await;
    assert_eq!(revoked.unwrap(), RevokeOutcome::Revoked);
    let refused = fixture.refresh(&first.refresh).await;
    assert_error(&refused, 400, "invalid_grant");
    assert_eq!(reason(&refused), "token_family_revoked");
}

/// O10, 53: if the pepper or the signing key was replaced, the response cannot be reproduced: the
/// retry is refused and the chain stays active.
#[tokio::test]
async fn irreproducible_retry_is_refused_without_revocation() {
    let tokens: Arc<dyn TokenStore> = Arc::new(MemoryTokens::new());
    let before = Fixture::with(tokens.clone(), |builder| windowed(builder, 7));
    let (first, answer) = rotated(&before).await;
    let leaf = Tokens::of(&answer).refresh;
    let other_key = || SigningKeys::new(SigningKey::generate_ed25519(&SeededEntropy::new(2)).unwrap());
    let others = [
        Fixture::with(tokens.clone(), |builder| windowed(builder, 8)),
        Fixture::with(tokens.clone(), |builder| {
            windowed(builder, 7).with_signing_keys(other_key())
        }),
        Fixture::with(tokens, |builder| {
            windowed(builder, 7).with_access_token_format(AccessTokenFormat::Opaque)
        }),
    ];
    for after in &others {
        let refused = after.refresh(&first.refresh).await;
        assert_error(&refused, 400, "invalid_grant");
        assert_eq!(codes(&refused.events), ["request_refused"]);
        assert_eq!(reason(&refused), "refresh_not_repeatable");
        assert!(before.is_active(&leaf).await);
    }
    let again = before.refresh(&first.refresh).await;
    assert_eq!(again.response.body(), answer.response.body());
}

/// O10, 53: a token that was rotated without a window has random successors, so that its return is
/// a reuse.
#[tokio::test]
async fn token_rotated_without_window_is_never_retried() {
    let tokens: Arc<dyn TokenStore> = Arc::new(MemoryTokens::new());
    let strict = Fixture::with(tokens.clone(), |builder| builder);
    let (first, _) = rotated(&strict).await;
    let after = Fixture::with(tokens, |builder| windowed(builder, 7));
    assert_theft(&after.refresh(&first.refresh).await);
}

/// O9, O10, O14, 53: a retry gets the lost response to the byte, ID token included, repeatedly.
/// Nothing is stored, and the successor stays active.
#[tokio::test]
async fn retry_gets_lost_response_to_the_byte() {
    for format in FORMATS {
        let tokens = Arc::new(MemoryTokens::new());
        let fixture = Fixture::with(tokens.clone(), |builder| {
            windowed(builder, 7).with_access_token_format(format)
        });
        let (first, answer) = rotated(&fixture).await;
        let second = Tokens::of(&answer);
        assert!(second.body["id_token"].is_string());
        let kept = format!("{tokens:?}");
        for _ in 0..2 {
            fixture.clock.advance(WINDOW / 4);
            let again = fixture.refresh(&first.refresh).await;
            assert_eq!(again.response.body(), answer.response.body());
            assert_eq!(again.response.headers(), answer.response.headers());
            assert_eq!(codes(&again.events), ["retry_served"]);
        }
        assert!(fixture.is_active(&second.access).await);
        assert!(fixture.is_active(&second.refresh).await);
        assert_eq!(format!("{tokens:?}").len(), kept.len());
        for secret in [&first.refresh, &second.refresh, &second.access] {
            assert!(!kept.contains(secret.as_str()));
        }
        let third = Tokens::of(&fixture.refresh(&second.refresh).await);
        assert_ne!(third.refresh, second.refresh);
    }
}

/// O10, 52, 53: a thief of a just rotated token gets the successor that its owner has; the next
/// rotation by either reveals the reuse and revokes the chain.
#[tokio::test]
async fn theft_within_window_is_detected_at_next_rotation() {
    let fixture = fixture();
    let (stolen, answer) = rotated(&fixture).await;
    let victim = Tokens::of(&answer);
    let thief = Tokens::of(&fixture.refresh(&stolen.refresh).await);
    assert_eq!(thief.refresh, victim.refresh);
    let loot = Tokens::of(&fixture.refresh(&thief.refresh).await);
    fixture.clock.advance(WINDOW);
    assert_theft(&fixture.refresh(&victim.refresh).await);
    assert!(!fixture.is_active(&loot.refresh).await);
    assert!(!fixture.is_active(&loot.access).await);
}

/// O10, 51, 53: of 32 concurrent requests with one token one rotates, and all get its successor.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_requests_within_window_get_one_successor() {
    let fixture = Arc::new(fixture());
    let first = fixture.sign_in().await;
    let racers: Vec<_> = (0..32)
        .map(|_| {
            let (fixture, token) = (fixture.clone(), first.refresh.clone());
            tokio::spawn(async move { fixture.refresh(&token).await })
        })
        .collect();
    let (mut rotated, mut answers) = (0, Vec::new());
    for racer in racers {
        let answer = racer.await.unwrap();
        rotated += usize::from(codes(&answer.events) == ["refresh_token_rotated"]);
        answers.push(answer.response.into_body());
    }
    assert_eq!(rotated, 1);
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    let leaf: serde_json::Value = serde_json::from_slice(&answers[0]).unwrap();
    assert!(fixture.is_active(leaf["refresh_token"].as_str().unwrap()).await);
}
