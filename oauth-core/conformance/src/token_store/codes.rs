//! Cases of storing and redeeming codes.

/// The cases of codes in `token_store!`.
#[host_ports_conformance::kit(token_store_codes)]
mod cases {
    use std::sync::Arc;

    use crate::records::race;
    use crate::records::{
        NANOSECOND, access, answer, code, family, family_id, hash, redemption, refresh, start,
    };
    use crate::token_store::redeemed;
    use host_ports_conformance::RACERS;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{AuthorizationCodeRecord, Insertion, RedeemOutcome, TokenStore};

    /// A code is read back with every field, repeatedly, under any key.
    pub async fn a_code_is_read_back_as_it_was_stored(store: &Arc<dyn TokenStore>) {
        for key in [
            TokenHash::from_bytes([0; 32]),
            TokenHash::from_bytes([0xff; 32]),
            hash("'\0"),
        ] {
            let record = AuthorizationCodeRecord {
                hash: key,
                ..code("whole")
            };
            assert_eq!(
                answer(store.insert_code(record.clone()).await),
                Insertion::Inserted
            );
            assert_eq!(answer(store.code(&key).await), Some(record.clone()));
            assert_eq!(answer(store.code(&key).await), Some(record));
        }
    }

    /// A code or token that was never stored is absent, and the hash of one kind does not find a
    /// record of another kind.
    pub async fn unknown_codes_and_tokens_are_absent(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let key = hash("nothing");
        assert_eq!(answer(store.code(&key).await), None);
        assert_eq!(answer(store.access_token(&key).await), None);
        assert_eq!(answer(store.refresh_token(&key).await), None);
        assert_eq!(
            answer(store.redeem_code(redemption("nothing", "g"), start()).await),
            RedeemOutcome::NotFound
        );
        // hashes of refresh token, access token and code
        assert_eq!(answer(store.access_token(&hash("f rt 0")).await), None);
        assert_eq!(answer(store.refresh_token(&hash("f at 0")).await), None);
        assert_eq!(answer(store.access_token(&hash("f")).await), None);
    }

    /// A second insert with the same hash is refused, and the first record stays.
    pub async fn an_insert_never_overwrites_a_code_or_a_token(store: &Arc<dyn TokenStore>) {
        let (first, mut second) = (code("a"), code("a"));
        second.expires_at += NANOSECOND;
        assert_eq!(
            answer(store.insert_code(first.clone()).await),
            Insertion::Inserted
        );
        assert_eq!(answer(store.insert_code(second).await), Insertion::Exists);
        assert_eq!(answer(store.code(&first.hash).await), Some(first));

        let (first, mut second) = (access("a", None), access("a", None));
        second.terms.expires_at += NANOSECOND;
        assert_eq!(
            answer(store.insert_access_token(first.clone()).await),
            Insertion::Inserted
        );
        assert_eq!(answer(store.insert_access_token(second).await), Insertion::Exists);
        let kept = answer(store.access_token(&first.hash).await).map(|state| (state.token, state.family));
        assert_eq!(kept, Some((first, None)));
    }

    /// O6, 45: redeeming a code marks it as redeemed and stores an active family with its tokens,
    /// in one step.
    pub async fn redeeming_code_stores_family_and_tokens(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let spent = AuthorizationCodeRecord {
            redeemed: Some(family_id("f")),
            ..code("f")
        };
        assert_eq!(answer(store.code(&hash("f")).await), Some(spent));

        let state = answer(store.refresh_token(&hash("f rt 0")).await).expect("it was issued");
        assert!(state.is_active(start()));
        assert_eq!(
            (state.token, state.family),
            (refresh("f rt 0", "f", 0), family("f"))
        );

        let state = answer(store.access_token(&hash("f at 0")).await).expect("it was issued");
        assert!(state.is_active(start()));
        assert_eq!(
            (state.token, state.family),
            (access("f at 0", Some("f")), Some(family("f")))
        );
    }

    /// A redemption without a refresh token stores none.
    pub async fn redeeming_without_refresh_token_stores_none(store: &Arc<dyn TokenStore>) {
        assert_eq!(answer(store.insert_code(code("f")).await), Insertion::Inserted);
        let mut redemption = redemption("f", "f");
        redemption.refresh = None;
        assert_eq!(
            answer(store.redeem_code(redemption, start()).await),
            RedeemOutcome::Redeemed
        );
        assert_eq!(answer(store.refresh_token(&hash("f rt 0")).await), None);
        assert!(
            answer(store.access_token(&hash("f at 0")).await).is_some_and(|state| state.is_active(start()))
        );
    }

    /// O6: a second redemption stores nothing, and returns the family to revoke.
    pub async fn second_redemption_is_refused_with_its_family(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let outcome = answer(store.redeem_code(redemption("f", "g"), start()).await);
        assert_eq!(
            outcome,
            RedeemOutcome::AlreadyRedeemed {
                family: family_id("f")
            }
        );
        assert_eq!(answer(store.access_token(&hash("g at 0")).await), None);
        assert_eq!(answer(store.refresh_token(&hash("g rt 0")).await), None);
        assert!(
            answer(store.refresh_token(&hash("f rt 0")).await).is_some_and(|state| state.is_active(start()))
        );
    }

    /// O6: a code is redeemed one nanosecond before its expiry; at the expiry nothing is stored.
    pub async fn a_code_expires_at_the_exact_instant(store: &Arc<dyn TokenStore>) {
        let record = code("f");
        assert_eq!(
            answer(store.insert_code(record.clone()).await),
            Insertion::Inserted
        );
        let at = |now| store.redeem_code(redemption("f", "f"), now);
        assert_eq!(answer(at(record.expires_at).await), RedeemOutcome::Expired);
        assert_eq!(answer(store.access_token(&hash("f at 0")).await), None);
        assert_eq!(
            answer(store.code(&record.hash).await).map(|code| code.redeemed),
            Some(None)
        );
        assert_eq!(
            answer(at(record.expires_at - NANOSECOND).await),
            RedeemOutcome::Redeemed
        );
    }

    /// O6: the second redemption of a code is reported as a replay even after the expiry of the
    /// code.
    pub async fn replay_of_expired_code_is_reported(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let late = code("f").retain_until;
        let outcome = answer(store.redeem_code(redemption("f", "g"), late).await);
        assert_eq!(
            outcome,
            RedeemOutcome::AlreadyRedeemed {
                family: family_id("f")
            }
        );
    }

    /// O6: one of 32 concurrent redemptions succeeds; for the others the store returns the family
    /// of the successful one.
    pub async fn one_of_32_redemptions_wins(store: &Arc<dyn TokenStore>) {
        assert_eq!(answer(store.insert_code(code("c")).await), Insertion::Inserted);
        let families: Vec<_> = (0..RACERS).map(|index| format!("family {index}")).collect();
        let outcomes = race(store, async |store, index| {
            store
                .redeem_code(redemption("c", &format!("family {index}")), start())
                .await
        })
        .await;
        let mut winners = families
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome == RedeemOutcome::Redeemed);
        let (winner, _) = winners.next().expect("one wins");
        assert_eq!(winners.next(), None);
        let lost = RedeemOutcome::AlreadyRedeemed {
            family: family_id(winner),
        };
        assert_eq!(
            outcomes.iter().filter(|outcome| **outcome == lost).count(),
            RACERS - 1
        );
        for f in &families {
            let stored = answer(store.refresh_token(&hash(&format!("{f} rt 0"))).await);
            assert_eq!(stored.is_some(), f == winner, "{f}");
        }
    }
}

pub use cases::*;
