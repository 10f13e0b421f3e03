//! Conformance kit for [`TokenStore`], in parts.
//!
//! `token_store!(#[tokio::test] expression)` expands to one test per case of all parts;
//! `expression` makes an empty store.
//!
//! A *family* is all tokens of one authorization. A *tombstone* is a redeemed code or a rotated
//! refresh token, kept to detect its reuse.
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

pub mod codes;
pub mod histories;
pub mod retention;
pub mod revocation;
pub mod rotation;

pub use codes::*;
pub use histories::*;
pub use retention::*;
pub use revocation::*;
pub use rotation::*;

use crate::records::{answer, code, redemption, start};
use oauth_core::store::{Insertion, RedeemOutcome, TokenStore};

/// Stores a code and redeems it for a family of tokens, all labelled `f`.
async fn redeemed(store: &dyn TokenStore, f: &str) {
    assert_eq!(answer(store.insert_code(code(f)).await), Insertion::Inserted);
    assert_eq!(
        answer(store.redeem_code(redemption(f, f), start()).await),
        RedeemOutcome::Redeemed
    );
}
