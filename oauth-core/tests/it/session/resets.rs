use http::HeaderMap;
use oauth_core::ports::Clock;
use oauth_core::session::SignedOut;
use oauth_core::store::{ResetOutcome, RevocationReason, Revoked, SessionStore};

use super::{MINUTE, browser, fixture, subject};

/// S3, S5, 111, 113, 115: good once, and whoever was signed in with the old password is so no more.
#[tokio::test]
async fn a_reset_signs_its_subject_out_everywhere() {
    let fixture = fixture();
    let thief = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let token = fixture
        .sessions
        .issue_reset(Some(&subject("ada")))
        .await
        .unwrap()
        .unwrap();
    assert!(token.expose().starts_with("pr_") && token.expose().len() == 46);
    assert_eq!(
        fixture.sessions.reset_subject(&token).await.unwrap(),
        Some(subject("ada"))
    );
    let redeemed = fixture.sessions.redeem_reset(&token).await.unwrap();
    let ResetOutcome::Redeemed {
        subject: whose,
        revoked: Revoked {
            sessions: 1,
            reset_tokens: 1,
            ..
        },
    } = redeemed
    else {
        panic!("{redeemed:?}");
    };
    assert_eq!(whose, subject("ada"));
    let signed_out = fixture
        .sessions
        .authenticate(&browser(&thief.set_cookie))
        .await
        .unwrap()
        .err();
    assert_eq!(signed_out, Some(SignedOut::Revoked));
    assert_eq!(
        fixture.sessions.redeem_reset(&token).await.unwrap(),
        ResetOutcome::NotFound
    );
    assert_eq!(fixture.sessions.reset_subject(&token).await.unwrap(), None);
}

/// S5, 111: fifteen minutes, to the instant.
#[tokio::test]
async fn a_reset_token_is_good_for_fifteen_minutes() {
    let fixture = fixture();
    let token = fixture
        .sessions
        .issue_reset(Some(&subject("ada")))
        .await
        .unwrap()
        .unwrap();
    fixture.clock.advance(15 * MINUTE);
    assert_eq!(fixture.sessions.reset_subject(&token).await.unwrap(), None);
    assert_eq!(
        fixture.sessions.redeem_reset(&token).await.unwrap(),
        ResetOutcome::Expired
    );
}

/// S5, 112, 115: a newer token, or a new password by other means, makes the older worth nothing.
#[tokio::test]
async fn only_the_newest_reset_token_is_good() {
    let fixture = fixture();
    let issue = async || {
        fixture
            .sessions
            .issue_reset(Some(&subject("ada")))
            .await
            .unwrap()
            .unwrap()
    };
    let (old, new) = (issue().await, issue().await);
    assert_eq!(fixture.sessions.reset_subject(&old).await.unwrap(), None);
    assert_eq!(
        fixture.sessions.redeem_reset(&old).await.unwrap(),
        ResetOutcome::NotFound
    );
    let changed = RevocationReason::PasswordChanged;
    let ended = fixture
        .sessions
        .sign_out_everywhere(&subject("ada"), None, changed)
        .await
        .unwrap();
    assert_eq!(ended.reset_tokens, 1);
    assert_eq!(
        fixture.sessions.redeem_reset(&new).await.unwrap(),
        ResetOutcome::NotFound
    );
}

/// S5, 114: asking for an address that nobody has costs the same store step, leaves one row however often it is done, and opens
/// nothing.
#[tokio::test]
async fn an_unknown_account_costs_the_same_work() {
    let fixture = fixture();
    for _ in 0..3 {
        assert!(fixture.sessions.issue_reset(None).await.unwrap().is_none());
    }
    let later = fixture.clock.now() + 15 * MINUTE;
    assert_eq!(fixture.store.purge_sessions(later).await.unwrap(), 1);
}
