//! Cases of rotating refresh tokens.

/// The cases of rotation in `token_store!`.
#[host_ports_conformance::kit(token_store_rotation)]
mod cases {
    use std::sync::Arc;

    use crate::records::race;
    use crate::records::{
        NANOSECOND, access, answer, code, family, family_id, hash, redemption, refresh, rotation, start,
    };
    use crate::token_store::redeemed;
    use host_ports_conformance::RACERS;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{
        Insertion, RedeemOutcome, RevocationReason, RevokeOutcome, RotateOutcome, Rotation, Successor,
        TokenStore,
    };

    /// O9, 51: in one step the presented token becomes a tombstone, a rotated token that is kept to
    /// detect reuse, and its successor is active.
    pub async fn rotation_leaves_tombstone_and_one_active_token(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let outcome = answer(store.rotate(rotation("f rt 0", "f rt 1", "f"), start()).await);
        assert_eq!(outcome, RotateOutcome::Rotated);

        let old = answer(store.refresh_token(&hash("f rt 0")).await).expect("a tombstone");
        assert_eq!(
            old.token.rotated,
            Some(rotation("f rt 0", "f rt 1", "f").to_rotated(start()))
        );
        assert!(!old.is_active(start()));
        let new = answer(store.refresh_token(&hash("f rt 1")).await).expect("the leaf");
        assert!(new.is_active(start()));
        assert_eq!((new.token, new.family), (refresh("f rt 1", "f", 1), family("f")));
        let access_token = answer(store.access_token(&hash("at of f rt 1")).await).expect("it was issued");
        assert_eq!(access_token.token, access("at of f rt 1", Some("f")));
    }

    /// O10, 51, 53: a tombstone is read with the current state of the refresh and access token that
    /// replaced it, so that the server can tell a retry from a reuse. A successor is not returned
    /// for an active token, or for a tombstone whose access token was purged.
    pub async fn tombstone_is_read_with_its_successors(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let random = Rotation {
            salt: None,
            ..rotation("f rt 1", "f rt 2", "f")
        };
        for rotation in [rotation("f rt 0", "f rt 1", "f"), random.clone()] {
            let rotated = answer(store.rotate(rotation, start()).await);
            assert_eq!(rotated, RotateOutcome::Rotated);
        }
        let access_hash = hash("at of f rt 1");
        let revoked = answer(store.revoke_access_token(&access_hash, start()).await);
        assert_eq!(revoked, RevokeOutcome::Revoked);

        let state = answer(store.refresh_token(&hash("f rt 0")).await).expect("a tombstone");
        let mut successor = Successor::new(refresh("f rt 1", "f", 1), access("at of f rt 1", Some("f")));
        successor.refresh.rotated = Some(random.to_rotated(start()));
        successor.access.revoked_at = Some(start());
        assert_eq!(state.successor, Some(successor));
        let state = answer(store.refresh_token(&hash("f rt 1")).await).expect("a tombstone");
        let leaf = Successor::new(refresh("f rt 2", "f", 1), access("at of f rt 2", Some("f")));
        assert_eq!(state.successor, Some(leaf.clone()));
        let state = answer(store.refresh_token(&hash("f rt 2")).await).expect("the leaf");
        assert_eq!(state.successor, None);

        assert_eq!(answer(store.purge_tokens(leaf.access.terms.expires_at).await), 3);
        let state = answer(store.refresh_token(&hash("f rt 1")).await).expect("a tombstone");
        assert_eq!(
            (state.token.rotated, state.successor),
            (Some(random.to_rotated(start())), None)
        );
    }

    /// O10: a reuse is refused and changes nothing; the server decides whether to revoke.
    pub async fn tombstone_is_not_rotated(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        assert_eq!(
            answer(store.rotate(rotation("f rt 0", "f rt 1", "f"), start()).await),
            RotateOutcome::Rotated
        );
        for now in [start(), family("f").expires_at] {
            let outcome = answer(store.rotate(rotation("f rt 0", "thief", "f"), now).await);
            assert_eq!(outcome, RotateOutcome::Superseded);
        }
        assert_eq!(answer(store.refresh_token(&hash("thief")).await), None);
        assert_eq!(answer(store.access_token(&hash("at of thief")).await), None);
        assert!(is_leaf(store, hash("f rt 1")).await);
    }

    /// The rotation of an unknown token returns `NotFound` and stores no token.
    pub async fn unknown_token_is_not_rotated(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let outcome = answer(store.rotate(rotation("guess", "f rt 1", "f"), start()).await);
        assert_eq!(outcome, RotateOutcome::NotFound);
        assert_eq!(answer(store.refresh_token(&hash("f rt 1")).await), None);
    }

    /// O21: a refresh token is rotated one nanosecond before its idle expiry, and refused at the
    /// expiry.
    pub async fn a_refresh_token_expires_at_the_exact_instant(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let expires_at = refresh("f rt 0", "f", 0).expires_at;
        let at = |now| store.rotate(rotation("f rt 0", "f rt 1", "f"), now);
        assert_eq!(answer(at(expires_at).await), RotateOutcome::Expired);
        assert!(is_leaf(store, hash("f rt 0")).await);
        assert_eq!(answer(at(expires_at - NANOSECOND).await), RotateOutcome::Rotated);
    }

    /// O21: a family is refused at its absolute expiry, even if its last token has not expired.
    pub async fn a_family_expires_at_the_exact_instant(store: &Arc<dyn TokenStore>) {
        assert_eq!(answer(store.insert_code(code("f")).await), Insertion::Inserted);
        let mut redemption = redemption("f", "f");
        redemption
            .refresh
            .iter_mut()
            .for_each(|token| token.expires_at = family("f").retain_until);
        assert_eq!(
            answer(store.redeem_code(redemption, start()).await),
            RedeemOutcome::Redeemed
        );
        let at = |now| store.rotate(rotation("f rt 0", "f rt 1", "f"), now);
        assert_eq!(answer(at(family("f").expires_at).await), RotateOutcome::Expired);
        assert_eq!(
            answer(at(family("f").expires_at - NANOSECOND).await),
            RotateOutcome::Rotated
        );
    }

    /// O10, 51: one of 32 concurrent rotations succeeds, and one token of the family is active.
    pub async fn one_of_32_rotations_wins(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let successors: Vec<_> = (0..RACERS).map(|index| format!("successor {index}")).collect();
        let outcomes = race(store, async |store, index| {
            let successor = format!("successor {index}");
            store.rotate(rotation("f rt 0", &successor, "f"), start()).await
        })
        .await;
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| **outcome == RotateOutcome::Rotated)
                .count(),
            1
        );
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| **outcome == RotateOutcome::Superseded)
                .count(),
            RACERS - 1
        );
        for (successor, outcome) in successors.iter().zip(outcomes) {
            assert_eq!(
                is_leaf(store, hash(successor)).await,
                outcome == RotateOutcome::Rotated,
                "{successor}"
            );
        }
        assert!(!is_leaf(store, hash("f rt 0")).await);
    }

    /// O10: a revoked family refuses its active token and its tombstones.
    pub async fn a_revoked_family_never_rotates_again(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        assert_eq!(
            answer(store.rotate(rotation("f rt 0", "f rt 1", "f"), start()).await),
            RotateOutcome::Rotated
        );
        let id = family_id("f");
        let revoked = answer(
            store
                .revoke_family(&id, RevocationReason::RefreshTokenReused, start())
                .await,
        );
        assert_eq!(revoked, RevokeOutcome::Revoked);
        for presented in ["f rt 0", "f rt 1"] {
            let outcome = answer(store.rotate(rotation(presented, "f rt 2", "f"), start()).await);
            assert_eq!(outcome, RotateOutcome::FamilyRevoked, "{presented}");
        }
        assert_eq!(answer(store.refresh_token(&hash("f rt 2")).await), None);
        assert_eq!(answer(store.access_token(&hash("at of f rt 2")).await), None);
    }

    /// O10, 52: a token issued by a rotation that races the revocation is inactive after both have
    /// returned.
    pub async fn revocation_wins_over_rotations_that_race_it(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let id = family_id("f");
        let ended = race(store, async move |store, index| {
            let successor = format!("successor {index}");
            if index % 2 == 0 {
                let outcome = store.rotate(rotation("f rt 0", &successor, "f"), start()).await?;
                return Ok((outcome == RotateOutcome::Rotated, false));
            }
            let outcome = store
                .revoke_family(&id, RevocationReason::RefreshTokenReused, start())
                .await?;
            Ok((false, outcome == RevokeOutcome::Revoked))
        })
        .await;
        assert!(ended.iter().filter(|(rotated, _)| *rotated).count() <= 1);
        assert_eq!(ended.iter().filter(|(_, revoked)| *revoked).count(), 1);
        for index in 0..RACERS {
            let state = answer(store.refresh_token(&hash(&format!("successor {index}"))).await);
            assert!(state.is_none_or(|state| !state.is_active(start())), "{index}");
        }
    }

    async fn is_leaf(store: &dyn TokenStore, hash: TokenHash) -> bool {
        answer(store.refresh_token(&hash).await).is_some_and(|state| state.token.rotated.is_none())
    }
}

pub use cases::*;
