//! What any [`TokenStore`] must do.
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

mod codes;
mod histories;
mod retention;
mod revocation;
mod rotation;

pub use codes::*;
pub use histories::*;
pub use retention::*;
pub use revocation::*;
pub use rotation::*;

use super::records::{answer, code, redemption, start};
use crate::store::{Insertion, RedeemOutcome, TokenStore};

/// Makes a test of each case: `token_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! token_store {
    (#[$attribute:meta] $($store:tt)+) => {
        $crate::__kit_cases! { token_store [#[$attribute]] [$($store)+]:
            a_code_is_read_back_as_it_was_stored
            unknown_codes_and_tokens_are_absent
            an_insert_never_overwrites_a_code_or_a_token
            redeeming_spends_the_code_and_stores_the_family_and_its_tokens
            redeeming_without_refresh_token_stores_none
            a_spent_code_buys_nothing_and_names_its_family
            a_code_expires_at_the_exact_instant
            a_spent_code_is_a_replay_however_late
            one_of_32_redemptions_wins
            rotating_leaves_a_tombstone_and_one_leaf
            a_tombstone_is_read_with_what_took_its_place
            a_tombstone_rotates_into_nothing
            an_unknown_token_rotates_into_nothing
            a_refresh_token_expires_at_the_exact_instant
            a_family_expires_at_the_exact_instant
            one_of_32_rotations_wins
            a_revoked_family_never_rotates_again
            revocation_wins_over_rotations_that_race_it
            revoking_a_family_ends_all_of_it_once
            revoking_an_access_token_ends_it_alone
            an_access_token_that_comes_alone_ends_with_its_family
            revoking_what_is_unknown_changes_nothing
            one_of_32_revocations_is_the_first
            fresh_codes_go_when_they_expire
            tombstones_outlive_what_was_issued
            access_tokens_go_when_they_expire
            every_history_of_tokens_has_an_order
            every_history_of_tokens_has_an_order_whatever_fails
            every_history_of_retries_has_an_order_whatever_fails
        }
    };
}

/// A code that was stored and spent on a family of tokens, all labelled `f`.
async fn redeemed(store: &dyn TokenStore, f: &str) {
    assert_eq!(answer(store.insert_code(code(f)).await), Insertion::Inserted);
    assert_eq!(
        answer(store.redeem_code(redemption(f, f), start()).await),
        RedeemOutcome::Redeemed
    );
}
