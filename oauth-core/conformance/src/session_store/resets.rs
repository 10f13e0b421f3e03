//! Cases of password-reset tokens.

/// The cases of resets in `session_store!`.
#[host_ports_conformance::kit(session_store_resets)]
mod cases {
    use std::sync::Arc;

    use std::time::Duration;

    use crate::records::race;
    use crate::records::{NANOSECOND, answer, grant, hash, reset, start};
    use crate::session_store::{alive, populate};
    use oauth_core::store::{ResetOutcome, ResetTokenRecord, RevocationReason, Revoked, SessionStore};
    use oauth_core::vocabulary::Subject;

    const LIFETIME: Duration = Duration::from_secs(15 * 60);

    fn ada() -> Subject {
        grant().subject
    }

    fn bob() -> Subject {
        "bob".parse().expect("printable")
    }

    /// S5: a reset token is read back with every field, with and without a subject.
    pub async fn a_reset_token_is_read_back_as_it_was_stored(store: &Arc<dyn SessionStore>) {
        for subject in [Some(ada()), None] {
            let record = reset("a token", subject);
            answer(store.put_reset_token(record.clone()).await);
            assert_eq!(
                answer(store.reset_token(&record.hash).await),
                Some(record.clone())
            );
            answer(store.purge_sessions(record.expires_at).await);
        }
        assert_eq!(answer(store.reset_token(&hash("nothing")).await), None);
    }

    /// S5, 112: a newer token replaces the older one of its subject; tokens of other subjects stay.
    pub async fn newer_reset_token_replaces_older(store: &Arc<dyn SessionStore>) {
        let issued = [
            ("bob's", Some(bob())),
            ("unowned old", None),
            ("unowned", None),
            ("old", Some(ada())),
            ("new", Some(ada())),
        ];
        for (label, subject) in issued {
            answer(store.put_reset_token(reset(label, subject)).await);
        }
        assert_eq!(redeemed(store, "old").await, ResetOutcome::NotFound);
        for (label, there) in [
            ("unowned old", false),
            ("bob's", true),
            ("unowned", true),
            ("new", true),
        ] {
            let kept = answer(store.reset_token(&hash(label)).await);
            assert_eq!(kept.is_some(), there, "{label}");
        }
    }

    /// S3, S5, 113: redeeming a token ends everything of its subject in the same step.
    pub async fn a_reset_token_is_redeemed_once_and_ends_everything(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        populate(store, "bob", &bob()).await;
        let expected = ResetOutcome::Redeemed {
            subject: ada(),
            revoked: Revoked {
                sessions: 2,
                families: 2,
                codes: 2,
                reset_tokens: 1,
            },
        };
        assert_eq!(redeemed(store, "ada reset").await, expected);
        assert_eq!(alive(store, "ada").await, [false; 9]);
        assert_eq!(alive(store, "bob").await, [true; 9]);
        assert_eq!(redeemed(store, "ada reset").await, ResetOutcome::NotFound);
        let state = answer(store.refresh_token(&hash("ada alone rt 0")).await);
        let revocation = state.and_then(|state| state.family.revoked);
        let reason = revocation.map(|revocation| revocation.reason);
        assert_eq!(reason, Some(RevocationReason::PasswordReset));
    }

    /// S5, 114: a token for an unknown account ends no session.
    pub async fn reset_token_without_subject_opens_nothing(store: &Arc<dyn SessionStore>) {
        answer(store.put_reset_token(reset("unowned", None)).await);
        assert_eq!(redeemed(store, "unowned").await, ResetOutcome::NotFound);
        assert_eq!(redeemed(store, "never issued").await, ResetOutcome::NotFound);
    }

    /// S5: an expired token is refused and ends no session.
    pub async fn a_reset_token_expires_at_the_exact_instant(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        let end = start() + LIFETIME;
        let redeem = async |now| answer(store.redeem_reset_token(&hash("ada reset"), now).await);
        assert_eq!(redeem(end).await, ResetOutcome::Expired);
        assert_eq!(alive(store, "ada").await, [true; 9]);
        assert!(matches!(
            redeem(end - NANOSECOND).await,
            ResetOutcome::Redeemed { .. }
        ));
    }

    /// S5, 111: one of 32 concurrent redemptions succeeds.
    pub async fn one_of_32_redemptions_of_a_reset_token_succeeds(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        let token = hash("ada reset");
        let outcomes = race(store, async move |store, _| {
            store.redeem_reset_token(&token, start()).await
        })
        .await;
        let redeemed = |outcome: &&ResetOutcome| matches!(outcome, ResetOutcome::Redeemed { .. });
        assert_eq!(outcomes.iter().filter(redeemed).count(), 1);
    }

    /// S5: after 32 concurrent puts for one subject one token is left.
    pub async fn one_of_32_reset_tokens_of_subject_is_left(store: &Arc<dyn SessionStore>) {
        race(store, async |store, index| {
            store
                .put_reset_token(reset(&index.to_string(), Some(ada())))
                .await
        })
        .await;
        let reason = RevocationReason::PasswordChanged;
        let revoked = answer(store.revoke_subject(&ada(), None, reason, start()).await);
        assert_eq!(revoked.reset_tokens, 1);
    }

    /// A purge drops tokens at the exact instant of their expiry and counts them.
    pub async fn purge_drops_expired_reset_tokens_only(store: &Arc<dyn SessionStore>) {
        let early = reset("early", Some(ada()));
        let late = ResetTokenRecord {
            expires_at: early.expires_at + NANOSECOND,
            ..reset("late", Some(bob()))
        };
        for record in [&early, &late] {
            answer(store.put_reset_token(record.clone()).await);
        }
        let purged = async |now| answer(store.purge_sessions(now).await);
        assert_eq!(purged(early.expires_at - NANOSECOND).await, 0);
        assert_eq!(purged(early.expires_at).await, 1);
        assert_eq!(answer(store.reset_token(&early.hash).await), None);
        assert_eq!(answer(store.reset_token(&late.hash).await), Some(late));
    }

    async fn redeemed(store: &dyn SessionStore, label: &str) -> ResetOutcome {
        answer(store.redeem_reset_token(&hash(label), start()).await)
    }
}

pub use cases::*;
