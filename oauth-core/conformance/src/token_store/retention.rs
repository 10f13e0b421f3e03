//! Cases of purging codes and tokens.

/// The cases of retention in `token_store!`.
#[host_ports_conformance::kit(token_store_retention)]
mod cases {
    use std::sync::Arc;

    use crate::records::{
        NANOSECOND, access, answer, code, family, family_id, hash, redemption, rotation, start,
    };
    use crate::token_store::redeemed;
    use oauth_core::store::{Insertion, RedeemOutcome, RotateOutcome, TokenStore};

    /// A purge drops fresh codes at the exact instant of their expiry and counts them.
    pub async fn purge_drops_expired_codes(store: &Arc<dyn TokenStore>) {
        assert_eq!(answer(store.insert_code(code("c")).await), Insertion::Inserted);
        let expires_at = code("c").expires_at;
        assert_eq!(answer(store.purge_tokens(expires_at - NANOSECOND).await), 0);
        assert!(answer(store.code(&hash("c")).await).is_some());
        assert_eq!(answer(store.purge_tokens(expires_at).await), 1);
        assert_eq!(answer(store.code(&hash("c")).await), None);
    }

    /// O6, O10, 44: the tombstones of redeemed codes and rotated tokens outlive every token that
    /// they led to.
    pub async fn tombstones_outlive_issued_tokens(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        assert_eq!(
            answer(store.rotate(rotation("f rt 0", "f rt 1", "f"), start()).await),
            RotateOutcome::Rotated
        );
        let end = family("f").retain_until;

        // the two access tokens have expired, all else stays
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

        // the family and its two refresh tokens are dropped together, the code later
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

    /// A purge drops access tokens at their expiry, whether revoked or not, with a family or
    /// without.
    pub async fn purge_drops_expired_access_tokens(store: &Arc<dyn TokenStore>) {
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
