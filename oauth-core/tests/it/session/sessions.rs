use http::HeaderMap;
use oauth_core::ports::Clock;
use oauth_core::session::{SessionTimeouts, SignedOut};
use oauth_core::store::{RevocationReason, SessionStore, TokenStore};

use super::{Fixture, MINUTE, browser, fixture, subject};

async fn state(fixture: &Fixture, headers: &HeaderMap) -> Option<SignedOut> {
    fixture.sessions.authenticate(headers).await.unwrap().err()
}

/// S1, 103: the cookie is opaque and ends with the session; the store has its hash; signing out
/// ends the session in the store.
#[tokio::test]
async fn a_browser_is_signed_in_and_out() {
    let fixture = fixture();
    assert_eq!(
        state(&fixture, &HeaderMap::new()).await,
        Some(SignedOut::NoCookie)
    );
    let agent = format!("{}\u{1f680}", "a".repeat(300));
    let begun = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), Some(&agent))
        .await
        .unwrap();
    assert!(begun.set_cookie.to_str().unwrap().contains("; Max-Age=28800;"));
    let ada = browser(&begun.set_cookie);
    let session = fixture.sessions.authenticate(&ada).await.unwrap().unwrap();
    assert_eq!(session.record.subject, subject("ada"));
    assert_eq!(session.record.label.as_deref(), Some("a".repeat(256).as_str()));
    let stored = fixture.store.session(&session.secret.hash()).await.unwrap();
    assert_eq!(stored, Some(session.record.clone()));
    let printed = format!("{session:?} {begun:?} {stored:?} {:?}", fixture.sessions);
    assert!(!printed.contains(session.secret.expose()), "{printed}");

    let cleared = fixture.sessions.sign_out(&ada).await.unwrap();
    assert!(cleared.to_str().unwrap().contains("=; Path=/; Max-Age=0;"));
    assert_eq!(state(&fixture, &ada).await, Some(SignedOut::Revoked));
    // again, and without a cookie
    fixture.sessions.sign_out(&ada).await.unwrap();
    fixture.sessions.sign_out(&HeaderMap::new()).await.unwrap();
}

/// S1, 106: a cookie that an attacker set before is replaced at sign-in, and its session ends.
#[tokio::test]
async fn session_fixation_is_prevented() {
    let fixture = fixture();
    let mallory = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("mallory"), None)
        .await
        .unwrap();
    let planted = browser(&mallory.set_cookie);
    let ada = fixture
        .sessions
        .sign_in(&planted, &subject("ada"), None)
        .await
        .unwrap();
    assert_ne!(ada.session.secret.expose(), mallory.session.secret.expose());
    assert_eq!(state(&fixture, &planted).await, Some(SignedOut::Revoked));
    assert_eq!(state(&fixture, &browser(&ada.set_cookie)).await, None);
}

/// S2, 105: idle and absolute timeouts apply to the second; a use extends the session, up to the
/// absolute end.
#[tokio::test]
async fn session_expires_idle_and_absolute() {
    let fixture = fixture();
    let left = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let busy = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let (left, busy) = (browser(&left.set_cookie), browser(&busy.set_cookie));
    for _ in 0..16 {
        fixture.clock.advance(29 * MINUTE);
        assert_eq!(state(&fixture, &busy).await, None);
    }
    assert_eq!(state(&fixture, &left).await, Some(SignedOut::IdleExpired));
    fixture.clock.advance(8 * 60 * MINUTE - 16 * 29 * MINUTE);
    assert_eq!(state(&fixture, &busy).await, Some(SignedOut::AbsoluteExpired));
    let risky = SessionTimeouts::high_risk(5 * MINUTE, 60 * MINUTE).unwrap();
    let sessions = fixture.sessions.clone().with_timeouts(risky);
    let begun = sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    fixture.clock.advance(5 * MINUTE);
    assert_eq!(
        state(&fixture, &browser(&begun.set_cookie)).await,
        Some(SignedOut::IdleExpired)
    );
}

/// S2: a look at the session is no use of it.
#[tokio::test]
async fn peek_does_not_extend_the_session() {
    let fixture = fixture();
    let begun = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let ada = browser(&begun.set_cookie);
    for _ in 0..2 {
        fixture.clock.advance(14 * MINUTE);
        let seen = fixture.sessions.peek(&ada).await.unwrap().unwrap();
        assert_eq!(seen.record.subject, subject("ada"));
    }
    fixture.clock.advance(2 * MINUTE);
    let ended = fixture.sessions.peek(&ada).await.unwrap();
    assert_eq!(ended.err(), Some(SignedOut::IdleExpired));
    assert_eq!(state(&fixture, &ada).await, Some(SignedOut::IdleExpired));
}

/// S2, 108: a busy session is written at intervals, not at each request.
#[tokio::test]
async fn busy_session_is_written_at_intervals() {
    let fixture = fixture();
    let begun = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let (ada, hash) = (browser(&begun.set_cookie), begun.session.secret.hash());
    let mut written = Vec::new();
    for _ in 0..60 {
        fixture.clock.advance(MINUTE / 6);
        assert_eq!(state(&fixture, &ada).await, None);
        written.push(fixture.store.session(&hash).await.unwrap().unwrap().seen_at);
    }
    written.dedup();
    assert_eq!(written.len(), 4, "the first, and three in ten minutes");
}

/// S4, 106, 109: after a renewal the old secret is refused, the session continues, and its CSRF
/// tokens are new.
#[tokio::test]
async fn renewed_session_has_new_secret() {
    let fixture = fixture();
    let begun = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let before = browser(&begun.set_cookie);
    fixture.clock.advance(MINUTE);
    let renewed = fixture.sessions.renew(&before).await.unwrap().unwrap();
    assert_eq!(state(&fixture, &before).await, Some(SignedOut::Unknown));
    let after = browser(&renewed.set_cookie);
    let session = fixture.sessions.authenticate(&after).await.unwrap().unwrap();
    assert_eq!(session.record, renewed.session.record);
    assert_eq!(session.record.id, begun.session.record.id);
    assert_eq!(session.record.expires_at, begun.session.record.expires_at);
    assert!(renewed.set_cookie.to_str().unwrap().contains("; Max-Age=28740;"));
    assert!(!session.secret.is_csrf_token(&begun.session.secret.csrf_token()));
    assert_eq!(
        fixture.sessions.renew(&before).await.unwrap().err(),
        Some(SignedOut::Unknown)
    );
    fixture.clock.advance(30 * MINUTE);
    assert_eq!(
        fixture.sessions.renew(&after).await.unwrap().err(),
        Some(SignedOut::IdleExpired)
    );
}

/// S3, 107: a subject lists and ends its own sessions, one or all, and no others.
#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_subject() {
    let fixture = fixture();
    let mut of_ada = Vec::new();
    for device in ["phone", "laptop", "library"] {
        let begun = fixture
            .sessions
            .sign_in(&HeaderMap::new(), &subject("ada"), Some(device))
            .await
            .unwrap();
        fixture.clock.advance(MINUTE);
        of_ada.push(begun.session.record.id);
    }
    let bob = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("bob"), None)
        .await
        .unwrap();
    let listed = async || {
        let sessions = fixture.sessions.list(&subject("ada")).await.unwrap();
        sessions
            .into_iter()
            .filter_map(|session| session.label)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed().await, ["library", "laptop", "phone"]);
    let [phone, laptop, library] = of_ada.try_into().unwrap();
    assert!(!fixture.sessions.end(&subject("bob"), &library).await.unwrap());
    assert!(fixture.sessions.end(&subject("ada"), &library).await.unwrap());
    assert!(!fixture.sessions.end(&subject("ada"), &library).await.unwrap());
    assert_eq!(listed().await, ["laptop", "phone"]);
    let everywhere = RevocationReason::SignedOutEverywhere;
    let ended = fixture
        .sessions
        .sign_out_everywhere(&subject("ada"), Some(&laptop), everywhere)
        .await
        .unwrap();
    assert_eq!(ended.sessions, 1);
    assert_eq!(listed().await, ["laptop"]);
    assert_ne!(phone, laptop);
    assert_eq!(state(&fixture, &browser(&bob.set_cookie)).await, None);
    assert_eq!(fixture.store.purge_tokens(fixture.clock.now()).await.unwrap(), 0);
}

/// S1, S4: signing out with the secret before a concurrent renewal ends the session.
#[tokio::test]
async fn signing_out_with_previous_secret_ends_session() {
    let fixture = fixture();
    let begun = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), None)
        .await
        .unwrap();
    let first = browser(&begun.set_cookie);
    let second = fixture.sessions.renew(&first).await.unwrap().unwrap();
    let second = browser(&second.set_cookie);
    fixture.sessions.sign_out(&first).await.unwrap();
    assert_eq!(state(&fixture, &second).await, Some(SignedOut::Revoked));
    assert_eq!(state(&fixture, &first).await, Some(SignedOut::Unknown));
}

/// S2, S4, 106: signing in again keeps the session, with a new secret and sign-in time, and does
/// not extend its absolute end.
#[tokio::test]
async fn signing_in_again_keeps_session() {
    let fixture = fixture();
    let begun = fixture
        .sessions
        .sign_in(&HeaderMap::new(), &subject("ada"), Some("laptop"))
        .await
        .unwrap();
    let before = browser(&begun.set_cookie);
    fixture.clock.advance(MINUTE);
    let again = fixture
        .sessions
        .sign_in_again(&before, &subject("ada"), Some("ignored"))
        .await
        .unwrap();
    let (old, new) = (&begun.session.record, &again.session.record);
    assert_eq!(new.id, old.id);
    assert_eq!(new.auth_time, old.auth_time + MINUTE);
    assert_eq!(new.expires_at, old.expires_at);
    assert_eq!(new.label.as_deref(), Some("laptop"));
    assert!(again.set_cookie.to_str().unwrap().contains("; Max-Age=28740;"));
    assert_eq!(state(&fixture, &before).await, Some(SignedOut::Unknown));
    let session = fixture.sessions.authenticate(&browser(&again.set_cookie)).await;
    assert_eq!(session.unwrap().unwrap().record, *new);
}

/// S1, 106: signing in ends the session of another subject, does not revive an ended one, and does
/// not join one whose secret was renewed meanwhile.
#[tokio::test]
async fn signing_in_joins_no_session_of_others() {
    let fixture = fixture();
    let sign_in = async |headers: &HeaderMap, name: &str| {
        let subject = subject(name);
        let begun = fixture.sessions.sign_in_again(headers, &subject, None);
        begun.await.unwrap()
    };
    let mallory = sign_in(&HeaderMap::new(), "mallory").await;
    let planted = browser(&mallory.set_cookie);
    let ada = sign_in(&planted, "ada").await;
    assert_ne!(ada.session.record.id, mallory.session.record.id);
    assert_eq!(state(&fixture, &planted).await, Some(SignedOut::Revoked));

    let left = browser(&ada.set_cookie);
    fixture.clock.advance(30 * MINUTE);
    let back = sign_in(&left, "ada").await;
    assert_ne!(back.session.record.id, ada.session.record.id);
    assert_eq!(state(&fixture, &left).await, Some(SignedOut::IdleExpired));

    let before = browser(&back.set_cookie);
    let crossed = fixture.sessions.renew(&before).await.unwrap().unwrap();
    let other = sign_in(&before, "ada").await;
    assert_ne!(other.session.record.id, back.session.record.id);
    assert_eq!(
        state(&fixture, &browser(&crossed.set_cookie)).await,
        Some(SignedOut::Revoked)
    );
}
