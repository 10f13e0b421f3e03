//! Cases of revoking families and access tokens.

/// The cases of revocation in `token_store!`.
#[host_ports_conformance::kit(token_store_revocation)]
mod cases {
    use std::sync::Arc;

    use std::time::Duration;

    use crate::records::race;
    use crate::records::{access, answer, code, family_id, hash, redemption, start};
    use crate::token_store::redeemed;
    use oauth_core::store::{
        FamilyRevocation, Insertion, RedeemOutcome, RevocationReason, RevokeOutcome, TokenStore,
    };

    /// O10, O13: a revocation makes every token of the family inactive at once. A second revocation
    /// keeps the first reason and time.
    pub async fn revoking_a_family_ends_all_of_it_once(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        redeemed(store, "other").await;
        let id = family_id("f");
        let later = start() + Duration::from_secs(1);
        let first = answer(
            store
                .revoke_family(&id, RevocationReason::CodeReplayed, start())
                .await,
        );
        assert_eq!(first, RevokeOutcome::Revoked);
        let second = answer(store.revoke_family(&id, RevocationReason::Requested, later).await);
        assert_eq!(second, RevokeOutcome::AlreadyRevoked);

        let refresh = answer(store.refresh_token(&hash("f rt 0")).await).expect("a tombstone");
        assert!(!refresh.is_active(start()));
        assert_eq!(
            refresh.family.revoked,
            Some(FamilyRevocation::new(RevocationReason::CodeReplayed, start()))
        );
        assert!(
            !answer(store.access_token(&hash("f at 0")).await).is_some_and(|state| state.is_active(start()))
        );
        assert!(
            answer(store.access_token(&hash("other at 0")).await)
                .is_some_and(|state| state.is_active(start()))
        );
    }

    /// O35: withdrawing a consent ends the families and codes of the user at the client, and no
    /// others.
    pub async fn revoking_grants_ends_those_of_user_and_client(store: &Arc<dyn TokenStore>) {
        let start_of = |label: &str, subject: &str, client: &str| {
            let mut code = code(label);
            code.grant.subject = subject.parse().expect("a subject");
            code.grant.client_id = client.parse().expect("a client id");
            code
        };
        let mut others = Vec::new();
        for (subject, client, ends) in [("ada", "web", true), ("ada", "app", false), ("bob", "web", false)] {
            let label = format!("{subject} {client}");
            let pending = start_of(&format!("{label} pending"), subject, client);
            let redeemed = start_of(&format!("{label} code"), subject, client);
            for code in [&pending, &redeemed] {
                assert_eq!(answer(store.insert_code(code.clone()).await), Insertion::Inserted);
            }
            let mut redemption = redemption(&format!("{label} code"), &label);
            redemption.family.grant = redeemed.grant.clone();
            let outcome = answer(store.redeem_code(redemption, start()).await);
            assert_eq!(outcome, RedeemOutcome::Redeemed);
            others.push((label, pending.hash, redeemed.hash, ends));
        }
        let (ada, web) = (
            "ada".parse().expect("a subject"),
            "web".parse().expect("a client id"),
        );
        let revoke = || store.revoke_grants(&ada, &web, RevocationReason::ConsentWithdrawn, start());
        let revoked = answer(revoke().await);
        assert_eq!((revoked.families, revoked.codes, revoked.sessions), (1, 1, 0));
        let again = answer(revoke().await);
        assert_eq!((again.families, again.codes), (0, 0));
        for (label, pending, redeemed, ends) in others {
            let state = answer(store.refresh_token(&hash(&format!("{label} rt 0"))).await);
            let state = state.expect("a refresh token");
            assert_eq!(state.is_active(start()), !ends, "{label}");
            assert_eq!(answer(store.code(&pending).await).is_none(), ends, "{label}");
            // a redeemed code is kept, so that its replay is detected
            assert!(answer(store.code(&redeemed).await).is_some(), "{label}");
        }
    }

    /// O13, O36, 62: revoking an access token leaves its family active.
    pub async fn revoking_an_access_token_ends_it_alone(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        assert_eq!(
            answer(store.insert_access_token(access("alone", None)).await),
            Insertion::Inserted
        );
        for label in ["f at 0", "alone"] {
            let key = hash(label);
            let revoke = || store.revoke_access_token(&key, start());
            assert_eq!(answer(revoke().await), RevokeOutcome::Revoked);
            assert_eq!(answer(revoke().await), RevokeOutcome::AlreadyRevoked);
            let state = answer(store.access_token(&key).await).expect("it is kept");
            assert_eq!(state.token.revoked_at, Some(start()));
            assert!(!state.is_active(start()));
        }
        assert!(
            answer(store.refresh_token(&hash("f rt 0")).await).is_some_and(|state| state.is_active(start()))
        );
    }

    /// O10, O13, 55: the revocation of a family also ends its access tokens from
    /// `insert_access_token`, whether they are inserted before or after the revocation.
    pub async fn inserted_access_token_ends_with_its_family(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let insert = async |label: &str| {
            let inserted = store.insert_access_token(access(label, Some("f"))).await;
            assert_eq!(answer(inserted), Insertion::Inserted);
        };
        let is_active = async |label: &str| {
            let state = answer(store.access_token(&hash(label)).await);
            state.is_some_and(|state| state.is_active(start()))
        };
        insert("early").await;
        assert!(is_active("early").await);
        assert!(
            answer(store.refresh_token(&hash("f rt 0")).await).is_some_and(|state| state.is_active(start()))
        );
        let id = family_id("f");
        let revoked = store.revoke_family(&id, RevocationReason::Requested, start());
        assert_eq!(answer(revoked.await), RevokeOutcome::Revoked);
        insert("late").await;
        for label in ["early", "late", "f at 0"] {
            assert!(!is_active(label).await, "{label}");
        }
    }

    /// The revocation of an unknown token or family returns `NotFound` and changes nothing.
    pub async fn revoking_unknown_token_changes_nothing(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let unknown = family_id("nothing");
        let family = answer(
            store
                .revoke_family(&unknown, RevocationReason::Requested, start())
                .await,
        );
        assert_eq!(family, RevokeOutcome::NotFound);
        for label in ["nothing", "f", "f rt 0"] {
            let outcome = answer(store.revoke_access_token(&hash(label), start()).await);
            assert_eq!(outcome, RevokeOutcome::NotFound, "{label}");
        }
        assert!(
            answer(store.refresh_token(&hash("f rt 0")).await).is_some_and(|state| state.is_active(start()))
        );
    }

    /// One of 32 concurrent revocations returns `Revoked`.
    pub async fn one_of_32_revocations_is_the_first(store: &Arc<dyn TokenStore>) {
        redeemed(store, "f").await;
        let id = family_id("f");
        let families = race(store, async move |store, _| {
            store
                .revoke_family(&id, RevocationReason::Requested, start())
                .await
        })
        .await;
        assert_eq!(firsts(&families), 1);
        let key = hash("f at 0");
        let tokens = race(store, async move |store, _| {
            store.revoke_access_token(&key, start()).await
        })
        .await;
        assert_eq!(firsts(&tokens), 1);
    }

    fn firsts(outcomes: &[RevokeOutcome]) -> usize {
        outcomes
            .iter()
            .filter(|outcome| **outcome == RevokeOutcome::Revoked)
            .count()
    }
}

pub use cases::*;
