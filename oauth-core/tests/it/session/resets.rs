use http::HeaderMap;
use oauth_core::attempts::AttemptPolicy;
use oauth_core::memory::MemoryAttempts;
use oauth_core::ports::Clock;
use oauth_core::session::SignedOut;
use oauth_core::store::{ResetOutcome, RevocationReason, Revoked, SessionStore};

use super::{MINUTE, browser, fixture, fixture_with, subject};

/// S3, S5, 111, 113, 115: a reset token works once and ends every session of its subject.
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
        .issue_reset("ada@example.com", Some(&subject("ada")))
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

/// S5, 111: a reset token expires after fifteen minutes, to the nanosecond.
#[tokio::test]
async fn a_reset_token_is_good_for_fifteen_minutes() {
    let fixture = fixture();
    let token = fixture
        .sessions
        .issue_reset("ada@example.com", Some(&subject("ada")))
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

/// S5, 112, 115: a newer token, or a password change by other means, invalidates the older one.
#[tokio::test]
async fn only_the_newest_reset_token_is_good() {
    let fixture = fixture();
    let issue = async || {
        fixture
            .sessions
            .issue_reset("ada@example.com", Some(&subject("ada")))
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

/// S5, 114: an unknown address costs the same store call, leaves one row in all, and its token ends
/// nothing.
#[tokio::test]
async fn an_unknown_account_costs_the_same_work() {
    let fixture = fixture();
    for _ in 0..3 {
        assert!(
            fixture
                .sessions
                .issue_reset("unknown@example.com", None)
                .await
                .unwrap()
                .is_none()
        );
    }
    let later = fixture.clock.now() + 15 * MINUTE;
    assert_eq!(fixture.store.purge_sessions(later).await.unwrap(), 1);
}

/// O27, S5, 116: three letters to one address; further ones are not sent, known address or not, and
/// the last token stays valid.
#[tokio::test]
async fn reset_letters_are_limited_to_three() {
    let fixture =
        fixture_with(|sessions| sessions.with_reset_limit(MemoryAttempts::new(), AttemptPolicy::RESETS));
    let ask = async |address: &str, whose: &str| {
        let issued = fixture.sessions.issue_reset(address, Some(&subject(whose))).await;
        issued.unwrap()
    };
    let mut last = None;
    for _ in 0..3 {
        last = ask("ada@example.com", "ada").await;
        assert!(last.is_some());
    }
    for _ in 0..32 {
        assert!(ask("ada@example.com", "ada").await.is_none());
    }
    let last = last.unwrap();
    assert_eq!(
        fixture.sessions.reset_subject(&last).await.unwrap(),
        Some(subject("ada"))
    );
    // other addresses are not limited, and this one is free again after five minutes
    assert!(ask("eve@example.com", "eve").await.is_some());
    fixture.clock.advance(5 * MINUTE);
    assert!(ask("ada@example.com", "ada").await.is_some());
    assert!(ask("ada@example.com", "ada").await.is_none());
}

/// O27, S5, 114, 116: the limit does not reveal accounts: a letter beyond it costs the store call
/// of an unknown address.
#[tokio::test]
async fn letters_beyond_limit_cost_the_same_work() {
    let fixture =
        fixture_with(|sessions| sessions.with_reset_limit(MemoryAttempts::new(), AttemptPolicy::RESETS));
    for _ in 0..10 {
        let issued = fixture.sessions.issue_reset("unknown@example.com", None).await;
        assert!(issued.unwrap().is_none());
    }
    for _ in 0..10 {
        let ada = subject("ada");
        let issued = fixture.sessions.issue_reset("ada@example.com", Some(&ada)).await;
        drop(issued.unwrap());
    }
    let later = fixture.clock.now() + 15 * MINUTE;
    // the row of the subject, and the shared one of unknown addresses
    assert_eq!(fixture.store.purge_sessions(later).await.unwrap(), 2);
}
