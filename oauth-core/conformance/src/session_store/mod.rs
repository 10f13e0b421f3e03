//! Conformance kit for [`SessionStore`], in parts.
//!
//! `session_store!(#[tokio::test] expression)` expands to one test per case of all parts;
//! `expression` makes an empty store.
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

pub mod endings;
pub mod histories;
pub mod resets;
pub mod sessions;
pub mod tables;

pub use endings::*;
pub use histories::*;
pub use resets::*;
pub use sessions::*;
pub use tables::*;

use crate::records::{answer, code, hash, redemption, reset, session, session_id, start};
use oauth_core::session::SessionState;
use oauth_core::store::{Insertion, RedeemOutcome, SessionStore};
use oauth_core::vocabulary::Subject;

/// Stores two sessions, a family with tokens and a fresh code of the first session, a family and a
/// code without session, and a reset token.
async fn populate(store: &dyn SessionStore, label: &str, subject: &Subject) {
    let of = |name: &str| format!("{label} {name}");
    for name in ["one", "two"] {
        let mut session = session(&of(name));
        session.subject = subject.clone();
        assert_eq!(answer(store.insert_session(session).await), Insertion::Inserted);
    }
    for (name, of_session) in [("in one", Some("one")), ("alone", None)] {
        let session = of_session.map(|session| session_id(&of(session)));
        for state in ["spent", "fresh"] {
            let mut code = code(&of(&format!("{name} {state}")));
            code.grant.subject = subject.clone();
            code.grant.session = session;
            assert_eq!(answer(store.insert_code(code).await), Insertion::Inserted);
        }
        let mut bought = redemption(&of(&format!("{name} spent")), &of(name));
        bought.family.grant.subject = subject.clone();
        bought.family.grant.session = session;
        bought.access.terms.subject = subject.clone();
        let redeemed = store.redeem_code(bought, start()).await;
        assert_eq!(answer(redeemed), RedeemOutcome::Redeemed);
    }
    answer(
        store
            .put_reset_token(reset(&of("reset"), Some(subject.clone())))
            .await,
    );
}

/// The active records of [`populate`]: both sessions; refresh token, access token and fresh
/// code of the first session; the three without session; the reset token.
async fn alive(store: &dyn SessionStore, label: &str) -> [bool; 9] {
    let of = |name: &str| hash(&format!("{label} {name}"));
    let session = async |name| {
        let session = answer(store.session(&of(name)).await);
        session.is_some_and(|session| session.state(start()) == SessionState::Active)
    };
    let granted = async |name: &str| {
        let refresh = answer(store.refresh_token(&of(&format!("{name} rt 0"))).await);
        let access = answer(store.access_token(&of(&format!("{name} at 0"))).await);
        [
            refresh.is_some_and(|state| state.is_active(start())),
            access.is_some_and(|state| state.is_active(start())),
            answer(store.code(&of(&format!("{name} fresh"))).await).is_some(),
        ]
    };
    let ([a, b, c], [d, e, f]) = (granted("in one").await, granted("alone").await);
    let reset = answer(store.reset_token(&of("reset")).await).is_some();
    [
        session("one").await,
        session("two").await,
        a,
        b,
        c,
        d,
        e,
        f,
        reset,
    ]
}
