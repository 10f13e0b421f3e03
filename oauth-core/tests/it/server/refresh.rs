//! Refresh, rotation and reuse detection.

use std::sync::Arc;
use std::time::Duration;

use oauth_core::jose::{IdTokenClaims, IdTokenPolicy};
use oauth_core::memory::MemoryTokens;
use oauth_core::secret::TokenHash;
use oauth_core::store::{RevocationReason, TokenStore as _};

use super::fixture::{Fixture, ISSUER, Pairs, Tokens, assert_error, codes, json, reason};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const NANOSECOND: Duration = Duration::from_nanos(1);

/// O9, 46, 47, 56: every refresh issues a new refresh token and rotates the old one.
#[tokio::test]
async fn every_refresh_rotates() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let answer = fixture.refresh(&first.refresh).await;
    let second = Tokens::of(&answer);
    assert_eq!(codes(&answer.events), ["refresh_token_rotated"]);
    assert_ne!(second.refresh, first.refresh);
    assert_ne!(second.access, first.access);
    assert!(!fixture.is_active(&first.refresh).await);
    assert!(fixture.is_active(&second.refresh).await);
    assert_eq!(second.body["scope"], "openid read:charges write:charges");
    let third = Tokens::of(&fixture.refresh(&second.refresh).await);
    assert!(fixture.is_active(&third.refresh).await);
}

/// O9, O18, 54: a refreshed ID token has the `auth_time` of the sign-in and no nonce.
#[tokio::test]
async fn a_refreshed_id_token_has_no_nonce() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let signed_in_at = fixture.ada().auth_time;
    fixture.clock.advance(DAY);
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap())
        .with_subject("ada".parse().unwrap())
        .with_access_token(second.access.parse().unwrap());
    let id_token = second.body["id_token"].as_str().unwrap();
    let claims = IdTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).unwrap();
    assert_eq!((claims.nonce, claims.auth_time), (None, Some(signed_in_at)));
    assert_eq!(claims.issued_at, fixture.now());
}

/// O10, 52: the reuse of a rotated token revokes the whole family at once.
#[tokio::test]
async fn a_reused_refresh_token_revokes_the_family() {
    let fixture = Fixture::new();
    let bystander = fixture.sign_in().await;
    let first = fixture.sign_in().await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    let third = Tokens::of(&fixture.refresh(&second.refresh).await);

    let answer = fixture.refresh(&first.refresh).await;
    assert_error(&answer, 400, "invalid_grant");
    assert_eq!(
        codes(&answer.events),
        ["refresh_token_reused", "family_revoked", "request_refused"]
    );
    for tokens in [&first, &second, &third] {
        assert!(!fixture.is_active(&tokens.access).await);
        assert!(!fixture.is_active(&tokens.refresh).await);
        assert_error(&fixture.refresh(&tokens.refresh).await, 400, "invalid_grant");
    }
    assert!(fixture.is_active(&bystander.access).await);
    Tokens::of(&fixture.refresh(&bystander.refresh).await);
    fixture.sign_in().await;
}

/// O10, 44: a reuse is detected for as long as the chain can live, also with regular purges.
#[tokio::test]
async fn a_tombstone_outlives_the_chain() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let mut leaf = first.clone();
    for _ in 0..3 {
        leaf = Tokens::of(&fixture.refresh(&leaf.refresh).await);
        fixture.clock.advance(9 * DAY);
        fixture.tokens.purge_tokens(fixture.now()).await.unwrap();
    }
    let answer = fixture.refresh(&first.refresh).await;
    assert_eq!(
        codes(&answer.events),
        ["refresh_token_reused", "family_revoked", "request_refused"]
    );
    assert!(!fixture.is_active(&leaf.refresh).await);
}

/// O9, 46: another client can neither use a refresh token nor revoke its chain, not even with a
/// rotated one.
#[tokio::test]
async fn other_client_cannot_use_or_revoke_refresh_token() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    for token in [&first.refresh, &second.refresh] {
        let answer = fixture.token_as("other", &request(token, None)).await;
        assert_error(&answer, 400, "invalid_grant");
        assert_eq!(codes(&answer.events), ["request_refused"]);
        assert_eq!(reason(&answer), "refresh_token_of_another_client");
    }
    assert!(fixture.is_active(&second.refresh).await);
}

/// O9, 49: a narrower scope applies to the access token and not to the chain.
#[tokio::test]
async fn a_narrower_scope_narrows_the_access_token_only() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let narrow = Tokens::of(
        &fixture
            .token(&request(&first.refresh, Some("read:charges")))
            .await,
    );
    assert_eq!(narrow.body["scope"], "read:charges");
    assert!(narrow.body.get("id_token").is_none());
    assert_eq!(fixture.introspect(&narrow.access).await["scope"], "read:charges");
    let wide = Tokens::of(&fixture.refresh(&narrow.refresh).await);
    assert_eq!(wide.body["scope"], "openid read:charges write:charges");
    assert!(wide.body.get("id_token").is_some());
}

/// O9, 49: a wider scope is refused, and the refresh token stays usable.
#[tokio::test]
async fn a_wider_scope_is_refused_and_consumes_nothing() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    for scope in [
        "email",
        "read:charges email",
        "read",
        "read:charges  write:charges",
    ] {
        let answer = fixture.token(&request(&first.refresh, Some(scope))).await;
        assert_error(&answer, 400, "invalid_scope");
    }
    Tokens::of(&fixture.refresh(&first.refresh).await);
}

/// O2, O9: an unregistered `offline_access` is ignored as in the authorization request; a
/// registered one that was not granted is refused.
#[tokio::test]
async fn unregistered_offline_access_is_ignored_at_refresh() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let all = "openid read:charges write:charges offline_access";
    let second = Tokens::of(&fixture.token(&request(&first.refresh, Some(all))).await);
    assert_eq!(second.body["scope"], "openid read:charges write:charges");
    for scope in ["offline_access", "offline_access email"] {
        let answer = fixture.token(&request(&second.refresh, Some(scope))).await;
        assert_error(&answer, 400, "invalid_scope");
        assert_eq!(reason(&answer), "scope_exceeded");
    }
    fixture
        .change_client("web", |web| web.with_scopes(all.parse().unwrap()))
        .await;
    let answer = fixture.token(&request(&second.refresh, Some(all))).await;
    assert_error(&answer, 400, "invalid_scope");
    Tokens::of(&fixture.refresh(&second.refresh).await);
}

/// O9, 47: scopes that the client has lost are dropped; if none is left, the refresh is refused.
#[tokio::test]
async fn withdrawn_scopes_are_not_refreshed() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    fixture
        .change_client("web", |web| web.with_scopes("read:charges".parse().unwrap()))
        .await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    assert_eq!(second.body["scope"], "read:charges");
    fixture
        .change_client("web", |web| web.with_scopes("email".parse().unwrap()))
        .await;
    assert_error(&fixture.refresh(&second.refresh).await, 400, "invalid_scope");
}

/// O21, 48: a refresh token expires after 14 idle days, to the nanosecond.
#[tokio::test]
async fn a_refresh_token_left_idle_expires() {
    let fixture = Fixture::new();
    let (early, late) = (fixture.sign_in().await, fixture.sign_in().await);
    fixture.clock.advance(14 * DAY - NANOSECOND);
    Tokens::of(&fixture.refresh(&early.refresh).await);
    fixture.clock.advance(NANOSECOND);
    let answer = fixture.refresh(&late.refresh).await;
    assert_error(&answer, 400, "invalid_grant");
    assert_eq!(reason(&answer), "refresh_token_expired");
    assert!(!fixture.is_active(&late.refresh).await);
}

/// O21, 48: a chain expires after 30 days, whatever its use, to the nanosecond.
#[tokio::test]
async fn a_chain_ends_after_thirty_days() {
    let fixture = Fixture::new();
    let mut tokens = fixture.sign_in().await;
    for _ in 0..3 {
        fixture.clock.advance(10 * DAY - NANOSECOND);
        tokens = Tokens::of(&fixture.refresh(&tokens.refresh).await);
    }
    assert_eq!(
        fixture.introspect(&tokens.refresh).await["exp"],
        1_800_000_000 + 30 * 24 * 60 * 60
    );
    fixture.clock.advance(3 * NANOSECOND);
    let answer = fixture.refresh(&tokens.refresh).await;
    assert_eq!(reason(&answer), "refresh_token_expired");
}

/// O9, O26, 56: every fault of a refresh token gets the same response.
#[tokio::test]
async fn refusals_of_a_refresh_token_are_indistinguishable() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let other = fixture.sign_in().await;
    Tokens::of(&fixture.refresh(&first.refresh).await);
    let answers = [
        fixture.refresh("rt_unknown").await,
        fixture.refresh(&first.access).await,
        fixture.refresh("caf\u{e9}").await,
        fixture.refresh(&first.refresh).await,
        fixture.refresh(&first.refresh).await,
        fixture.token_as("other", &request(&other.refresh, None)).await,
    ];
    for answer in &answers {
        assert_error(answer, 400, "invalid_grant");
        assert_eq!(
            json(&answer.response),
            serde_json::json!({ "error": "invalid_grant" })
        );
    }
}

/// O10, 51: of 32 concurrent refreshes with one token at most one succeeds, and its token is
/// revoked by the reuse of the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_refreshes_never_fork_chain() {
    let fixture = Arc::new(Fixture::new());
    let first = fixture.sign_in().await;
    let racers: Vec<_> = (0..32)
        .map(|_| {
            let (fixture, token) = (fixture.clone(), first.refresh.clone());
            tokio::spawn(async move { fixture.refresh(&token).await })
        })
        .collect();
    let mut won = Vec::new();
    for racer in racers {
        let answer = racer.await.unwrap();
        if answer.response.status() == 200 {
            won.push(Tokens::of(&answer));
        } else {
            assert_error(&answer, 400, "invalid_grant");
        }
    }
    assert!(won.len() <= 1, "{} chains", won.len());
    for tokens in won {
        assert!(!fixture.is_active(&tokens.refresh).await);
        assert!(!fixture.is_active(&tokens.access).await);
    }
}

/// O6: of 32 concurrent redemptions of one code at most one succeeds, and its tokens are revoked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_redemptions_start_at_most_one_chain() {
    let fixture = Arc::new(Fixture::new());
    let code = fixture.code().await;
    let racers: Vec<_> = (0..32)
        .map(|_| {
            let (fixture, code) = (fixture.clone(), code.clone());
            tokio::spawn(async move { fixture.redeem(&code).await })
        })
        .collect();
    let mut won = Vec::new();
    for racer in racers {
        let answer = racer.await.unwrap();
        if answer.response.status() == 200 {
            won.push(Tokens::of(&answer));
        }
    }
    assert!(won.len() <= 1, "{} families", won.len());
    for tokens in won {
        assert!(!fixture.is_active(&tokens.refresh).await);
    }
}

/// O10, 47: a family that was revoked in the store is refused.
#[tokio::test]
async fn a_revoked_family_is_refused() {
    let tokens = Arc::new(MemoryTokens::new());
    let fixture = Fixture::with(tokens.clone(), |builder| builder);
    let first = fixture.sign_in().await;
    let state = tokens
        .refresh_token(&TokenHash::new(&first.refresh))
        .await
        .unwrap()
        .unwrap();
    let revoked = tokens
        .revoke_family(&state.family.id, RevocationReason::Requested, fixture.now())
        .await;
    assert_eq!(revoked.unwrap(), oauth_core::store::RevokeOutcome::Revoked);
    assert_eq!(
        reason(&fixture.refresh(&first.refresh).await),
        "token_family_revoked"
    );
}

/// O14: the store has hashes only: no issued token is one of its keys or values.
#[tokio::test]
async fn the_store_keeps_hashes_only() {
    let tokens = Arc::new(MemoryTokens::new());
    let fixture = Fixture::with(tokens.clone(), |builder| builder);
    let code = fixture.code().await;
    let first = Tokens::of(&fixture.redeem(&code).await);
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    let kept = format!("{tokens:?} {:?}", fixture.clients);
    for secret in [
        &code,
        &first.access,
        &first.refresh,
        &second.access,
        &second.refresh,
    ] {
        assert!(!kept.contains(secret.as_str()));
    }
    assert!(!kept.contains(super::fixture::secret("web").expose()));
}

fn request<'a>(token: &'a str, scope: Option<&'a str>) -> Pairs<'a> {
    let scope = scope.map(|scope| ("scope", scope));
    [("grant_type", "refresh_token"), ("refresh_token", token)]
        .into_iter()
        .chain(scope)
        .collect()
}
