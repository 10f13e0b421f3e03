//! Cases of purging codes and tokens.

/// The cases.
#[host_ports_conformance::kit(token_store_retention)]
mod cases {
    use std::sync::Arc;

    use crate::records::{
        NANOSECOND, access, answer, code, family, family_id, hash, redemption, rotation, start,
    };
    use crate::token_store::redeemed;
    use oauth_core::store::{Insertion, RedeemOutcome, RotateOutcome, TokenStore};

    /// At the exact instant, counted.
    pub async fn fresh_codes_go_when_they_expire(store: &Arc<dyn TokenStore>) {
        assert_eq!(answer(store.insert_code(code("c")).await), Insertion::Inserted);
        let expires_at = code("c").expires_at;
        assert_eq!(answer(store.purge_tokens(expires_at - NANOSECOND).await), 0);
        assert!(answer(store.code(&hash("c")).await).is_some());
        assert_eq!(answer(store.purge_tokens(expires_at).await), 1);
        assert_eq!(answer(store.code(&hash("c")).await), None);
    }

    /// O6, O10, 44: spent codes and rotated tokens betray a theft for as long as anything they led to can be alive.
    pub async fn tombstones_outlive_what_was_issued(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        assert_eq!(
            answer(store.rotate(rotation("f rt 0", "f rt 1", "f"), start()).await),
            RotateOutcome::Rotated
        );
        let end = family("f").retain_until;

        // the two access tokens are over, everything else stays
        assert_eq!(answer(store.purge_tokens(end - NANOSECOND).await), 2);
        let replay = answer(store.redeem_code(redemption("f", "g"), end).await);
        assert_eq!(
            replay,
            RedeemOutcome::AlreadyRedeemed {
                family: family_id("f")
            }
        );
        let reuse = answer(store.rotate(rotation("f rt 0", "thief", "f"), start()).await);
        assert_eq!(reuse, RotateOutcome::Superseded);

        // the family and its two refresh tokens go together, the code a little later
        assert_eq!(answer(store.purge_tokens(end).await), 3);
        assert_eq!(answer(store.refresh_token(&hash("f rt 0")).await), None);
        assert_eq!(answer(store.refresh_token(&hash("f rt 1")).await), None);
        assert_eq!(
            answer(store.purge_tokens(code("f").retain_until - NANOSECOND).await),
            0
        );
        assert_eq!(answer(store.purge_tokens(code("f").retain_until).await), 1);
        assert_eq!(answer(store.code(&hash("f")).await), None);
    }

    /// Revoked or not, with a family or without.
    pub async fn access_tokens_go_when_they_expire(store: &Arc<dyn TokenStore>) {
        let token = access("a", None);
        assert_eq!(
            answer(store.insert_access_token(token.clone()).await),
            Insertion::Inserted
        );
        assert_eq!(
            answer(store.purge_tokens(token.terms.expires_at - NANOSECOND).await),
            0
        );
        assert_eq!(answer(store.purge_tokens(token.terms.expires_at).await), 1);
        assert_eq!(answer(store.access_token(&token.hash).await), None);
    }
}

pub use cases::*;
