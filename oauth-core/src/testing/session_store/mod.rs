//! What any [`SessionStore`] must do.
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

mod endings;
mod histories;
mod resets;
mod sessions;
mod tables;

pub use endings::*;
pub use histories::*;
pub use resets::*;
pub use sessions::*;
pub use tables::*;

use super::records::{answer, code, hash, redemption, reset, session, session_id, start};
use crate::session::SessionState;
use crate::store::{Insertion, RedeemOutcome, SessionStore};
use crate::vocabulary::Subject;

/// Makes a test of each case: `session_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! session_store {
    (#[$attribute:meta] $($store:tt)+) => {
        $crate::__kit_cases! { session_store [#[$attribute]] [$($store)+]:
            a_session_is_read_back_as_it_was_stored
            an_insert_never_overwrites_a_session
            a_touch_moves_a_session_forward_only
            a_session_that_is_over_is_neither_touched_nor_renewed
            a_renewed_session_is_under_its_new_secret_alone
            who_proves_anew_who_they_are_has_signed_in_then
            an_ended_session_stays_ended
            the_active_sessions_of_a_subject_are_listed
            one_of_32_renewals_is_done
            no_touch_undoes_an_end
            purging_drops_sessions_that_are_over_and_nothing_else
            what_was_granted_in_a_session_ends_with_it
            a_session_is_ended_by_its_secret_or_the_one_before
            what_was_granted_in_a_session_that_timed_out_ends_by_signing_out
            no_renewal_escapes_the_end_of_its_session
            a_code_of_a_session_that_ended_buys_nothing
            a_code_of_a_session_that_is_over_buys_nothing
            a_redemption_that_crosses_the_end_of_its_session_leaves_nothing_alive
            everything_of_a_subject_ends_and_nothing_of_another
            one_session_can_be_kept_with_what_was_granted_in_it
            a_second_revocation_finds_nothing
            a_reset_token_is_read_back_as_it_was_stored
            a_newer_reset_token_takes_the_place_of_the_older
            a_reset_token_is_redeemed_once_and_ends_everything
            a_reset_token_of_nobody_opens_nothing
            a_reset_token_expires_at_the_exact_instant
            one_of_32_redemptions_of_a_reset_token_succeeds
            of_32_reset_tokens_of_one_subject_one_is_left
            purging_drops_expired_reset_tokens_and_nothing_else
            every_history_of_sessions_has_an_order
            every_history_of_sessions_has_an_order_whatever_fails
            every_transition_of_a_code_is_that_of_its_table
            every_transition_of_a_refresh_token_is_that_of_its_table
        }
    };
}

/// Two sessions, a family bought in the first with its tokens, a fresh code of the first, a family and a code of no session,
/// and a reset token.
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

/// Which of what [`populate`] made is worth anything: the sessions; refresh token, access token and fresh code of the first
/// one; the same of no session; the reset token.
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
