//! Cases of storing and redeeming codes.

/// The cases.
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

    /// Every field comes back, as often as it is asked for, under any key.
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

    /// What was never stored is not there, of any kind.
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
        // a key of one kind opens nothing of another
        assert_eq!(answer(store.access_token(&hash("f rt 0")).await), None);
        assert_eq!(answer(store.refresh_token(&hash("f at 0")).await), None);
        assert_eq!(answer(store.access_token(&hash("f")).await), None);
    }

    /// The first one stays.
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

    /// O6, 45: one step: the code is spent, everything it buys is there and alive.
    pub async fn redeeming_spends_the_code_and_stores_the_family_and_its_tokens(store: &Arc<dyn TokenStore>) {
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

    /// For a client that may not refresh.
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

    /// O6: a replay stores nothing, and learns which family to revoke.
    pub async fn a_spent_code_buys_nothing_and_names_its_family(store: &Arc<dyn TokenStore>) {
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

    /// O6: alive a nanosecond before, dead at the instant, and nothing was stored then.
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

    /// O6: spent comes before expired, so that a late replay is still seen as one.
    pub async fn a_spent_code_is_a_replay_however_late(store: &Arc<dyn TokenStore>) {
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

    /// O6: of 32 redemptions one buys, and everybody else is told what it bought.
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
