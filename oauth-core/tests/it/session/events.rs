//! Session events for the host.

use std::sync::{Arc, Mutex};

use http::HeaderMap;
use oauth_core::attempts::AttemptPolicy;
use oauth_core::event::{AuthEvent, AuthEventKind};
use oauth_core::memory::MemoryAttempts;
use oauth_core::secret::TokenHash;
use oauth_core::store::RevocationReason;

use super::{Fixture, browser, fixture_with, subject};

#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<AuthEvent>>>);

impl Events {
    /// The events since the last call.
    fn take(&self) -> Vec<AuthEvent> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn codes(&self) -> Vec<&'static str> {
        self.take().iter().map(|event| event.kind.code()).collect()
    }
}

fn watched() -> (Fixture, Events) {
    let events = Events::default();
    let told = events.clone();
    let fixture = fixture_with(|sessions| {
        sessions
            .with_reset_limit(MemoryAttempts::new(), AttemptPolicy::RESETS)
            .with_events(move |event| told.0.lock().unwrap().push(event))
    });
    (fixture, events)
}

async fn sign_in(fixture: &Fixture, headers: &HeaderMap) -> (HeaderMap, oauth_core::store::SessionId) {
    let begun = fixture
        .sessions
        .sign_in(headers, &subject("ada"), None)
        .await
        .unwrap();
    (browser(&begun.set_cookie), begun.session.record.id)
}

/// S1, S4: sign-in, renewal and sign-out emit one event each, with subject and session; calls
/// without effect emit none.
#[tokio::test]
async fn session_emits_event_for_each_change() {
    let (fixture, events) = watched();
    let (ada, first) = sign_in(&fixture, &HeaderMap::new()).await;
    let told = events.take();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].kind, AuthEventKind::SignedIn);
    assert_eq!(told[0].subject, Some(TokenHash::new("ada")));
    assert_eq!(told[0].session, Some(first));
    assert_eq!(told[0].reason, None);

    let renewed = fixture.sessions.renew(&ada).await.unwrap().unwrap();
    let told = events.take();
    assert_eq!((told.len(), told[0].kind), (1, AuthEventKind::SessionRenewed));
    assert_eq!(told[0].session, Some(first));

    // two renewals later the first secret is unknown
    let again = fixture.sessions.renew(&browser(&renewed.set_cookie)).await;
    let renewed = again.unwrap().unwrap();
    assert_eq!(events.codes(), ["session_renewed"]);
    assert!(fixture.sessions.renew(&ada).await.unwrap().is_err());
    fixture.sessions.sign_out(&ada).await.unwrap();
    fixture
        .sessions
        .authenticate(&browser(&renewed.set_cookie))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(events.codes(), [""; 0]);

    let (ada, second) = sign_in(&fixture, &browser(&renewed.set_cookie)).await;
    assert_eq!(events.codes(), ["session_ended", "signed_in"]);
    assert!(!fixture.sessions.end(&subject("eve"), &second).await.unwrap());
    assert!(!fixture.sessions.end(&subject("ada"), &first).await.unwrap());
    assert_eq!(events.codes(), [""; 0]);
    assert!(fixture.sessions.end(&subject("ada"), &second).await.unwrap());
    let told = events.take();
    assert_eq!((told.len(), told[0].kind), (1, AuthEventKind::SessionEnded));
    assert_eq!(told[0].revocation, Some(RevocationReason::SignedOut));
    assert_eq!(told[0].session, Some(second));
    fixture.sessions.sign_out(&ada).await.unwrap();
    assert_eq!(events.codes(), [""; 0]);

    let (ada, third) = sign_in(&fixture, &HeaderMap::new()).await;
    let again = fixture.sessions.sign_in_again(&ada, &subject("ada"), None).await;
    assert_eq!(again.unwrap().session.record.id, third);
    assert_eq!(events.codes(), ["signed_in", "signed_in"]);
    // by the secret before the last renewal
    fixture.sessions.sign_out(&ada).await.unwrap();
    let told = events.take();
    assert_eq!((told.len(), told[0].kind), (1, AuthEventKind::SessionEnded));
    assert_eq!(told[0].session, Some(third));
}

/// S3, S5, 116: a revocation event has its reason and the kept session; a reset letter emits an
/// event, sent or not.
#[tokio::test]
async fn revocation_and_resets_emit_events() {
    let (fixture, events) = watched();
    let (_, here) = sign_in(&fixture, &HeaderMap::new()).await;
    events.take();
    let changed = RevocationReason::PasswordChanged;
    let _counts = fixture
        .sessions
        .sign_out_everywhere(&subject("ada"), Some(&here), changed)
        .await
        .unwrap();
    let told = events.take();
    assert_eq!(
        (told.len(), told[0].kind),
        (1, AuthEventKind::SignedOutEverywhere)
    );
    assert_eq!((told[0].session, told[0].revocation), (Some(here), Some(changed)));

    let ask = async |whose| {
        fixture
            .sessions
            .issue_reset("ada@example.com", whose)
            .await
            .unwrap()
    };
    let ada = subject("ada");
    let token = ask(Some(&ada)).await.unwrap();
    assert_eq!(events.codes(), ["reset_token_issued"]);
    let redeemed = fixture.sessions.redeem_reset(&token).await.unwrap();
    let told = events.take();
    let kinds: Vec<_> = told.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [
            AuthEventKind::ResetTokenRedeemed,
            AuthEventKind::SignedOutEverywhere
        ]
    );
    assert_eq!(told[1].revocation, Some(RevocationReason::PasswordReset));
    assert_ne!(fixture.sessions.redeem_reset(&token).await.unwrap(), redeemed);
    assert!(ask(None).await.is_none());
    assert!(ask(Some(&ada)).await.is_some());
    assert_eq!(events.codes(), ["reset_token_issued"]);
    assert!(ask(Some(&ada)).await.is_none());
    let told = events.take();
    assert_eq!((told.len(), told[0].kind), (1, AuthEventKind::AttemptsExceeded));
    assert_eq!(told[0].reason.unwrap().code(), "too_many_resets");
    assert_eq!(told[0].subject, Some(TokenHash::new("ada")));
    assert!(!format!("{told:?}").contains("ada@example.com"));
}
