//! Retries of a refresh.

use super::*;
use crate::store::AccessTokenRecord;
use crate::vocabulary::AccessTokenTerms;

/// O10, 49, 50, 53: the request is a retry if every condition holds, otherwise it is reuse.
#[test]
fn a_retry_is_decided_by_every_condition() {
    use refresh_token::{Request, RotationDecision, rotate};
    let web = public("web");
    let window = RetryWindow::new(Duration::from_secs(10)).unwrap();
    let narrower: Scopes = "read:charges".parse().unwrap();
    let elsewhere = ["https://elsewhere.example".parse().unwrap()];
    for faults in 0..1024_u16 {
        let wrong = |bit: u8| faults & (1 << bit) != 0;
        let mut successor = successor();
        let rotated = Rotated::new(now(), successor.refresh.hash, successor.access.hash);
        successor.refresh.rotated = wrong(0).then_some(rotated);
        successor.access.revoked_at = wrong(1).then_some(now());
        if wrong(2) {
            successor.access.terms.audience.clear();
        }
        let mut state = refresh();
        let salt = (!wrong(3)).then_some(RotationSalt::from_bytes([1; 16]));
        state.token.rotated = Some(rotated.with_salt(salt));
        let expected = successor.clone();
        let state = state.with_successor((!wrong(4)).then_some(successor));
        let request = Request {
            client: &web,
            scopes: wrong(5).then_some(&narrower),
            resources: if wrong(6) { &elsewhere } else { &[] },
            confirmation: wrong(9).then_some(bound::KEY),
        };
        let policy = TokenPolicy::default();
        let policy = if wrong(7) {
            policy
        } else {
            policy.with_retry_window(window)
        };
        let late = if wrong(8) {
            window.as_duration()
        } else {
            Duration::ZERO
        };
        match rotate(&state, &request, &policy, now() + late) {
            RotationDecision::Retry(plan) => {
                assert_eq!((faults, plan.successor), (0, expected));
                assert_eq!((plan.presented, Some(plan.salt)), (state.token.hash, salt));
            }
            decision => assert!(
                faults != 0 && decision == RotationDecision::RevokeFamily(FAMILY),
                "{faults:b}"
            ),
        }
    }
}

/// O10, 48, 53: from the expiry of the family on, a retry within the window is refused, but is not
/// reuse.
#[test]
fn a_retry_is_refused_from_the_end_of_its_family_on() {
    use refresh_token::{Refusal, Request, RotationDecision, rotate};
    let web = RegisteredClient::public("web".parse().unwrap()).with_scopes(grant().scopes);
    let request = Request {
        client: &web,
        scopes: None,
        resources: &[],
        confirmation: None,
    };
    let (life, window) = (Duration::from_secs(5), Duration::from_secs(10));
    let policy = TokenPolicy::default().with_retry_window(RetryWindow::new(window).unwrap());
    let rotated = Rotated::new(now(), TokenHash::new("successor"), TokenHash::new("access"));
    let mut state = refresh().with_successor(Some(successor()));
    state.token.rotated = Some(rotated.with_salt(Some(RotationSalt::from_bytes([1; 16]))));
    state.family.expires_at = now() + life;
    let after = |wait| rotate(&state, &request, &policy, now() + wait);
    let at_last = after(life - Duration::from_nanos(1));
    assert!(matches!(at_last, RotationDecision::Retry(_)));
    assert_eq!(after(life), RotationDecision::Refuse(Refusal::Expired));
    assert_eq!(after(window), RotationDecision::RevokeFamily(FAMILY));
}

/// Tokens that the rotation of the token of [`refresh`] issued.
fn successor() -> Successor {
    let terms = AccessTokenTerms {
        client_id: "web".parse().unwrap(),
        subject: "ada".parse().unwrap(),
        scopes: grant().scopes,
        audience: grant().audience,
        confirmation: None,
        issued_at: now(),
        expires_at: now() + Duration::from_secs(600),
    };
    let mut leaf = refresh().token;
    (leaf.hash, leaf.generation) = (TokenHash::new("successor"), 4);
    let access = AccessTokenRecord::new(TokenHash::new("access"), "1", Some(FAMILY), terms);
    Successor::new(leaf, access)
}

/// O10, 53: tokens with other hashes are not the issued tokens.
#[test]
fn a_retry_is_answered_by_the_same_tokens_alone() {
    let plan = refresh_token::RetryPlan {
        presented: TokenHash::new("token"),
        salt: RotationSalt::from_bytes([1; 16]),
        successor: successor(),
    };
    let (refresh, access, other) = (
        TokenHash::new("successor"),
        TokenHash::new("access"),
        TokenHash::new("other"),
    );
    assert!(plan.matches(&refresh, &access));
    assert!(!plan.matches(&other, &access));
    assert!(!plan.matches(&refresh, &other));
    assert!(!plan.matches(&access, &refresh));
}
