//! Cases of password-reset tokens.

/// The cases.
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

    /// S5: of somebody and of nobody.
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

    /// S5, 112: only the newest is worth anything; those of others are untouched.
    pub async fn a_newer_reset_token_takes_the_place_of_the_older(store: &Arc<dyn SessionStore>) {
        let issued = [
            ("bob's", Some(bob())),
            ("nobody's old", None),
            ("nobody's", None),
            ("old", Some(ada())),
            ("new", Some(ada())),
        ];
        for (label, subject) in issued {
            answer(store.put_reset_token(reset(label, subject)).await);
        }
        assert_eq!(redeemed(store, "old").await, ResetOutcome::NotFound);
        for (label, there) in [
            ("nobody's old", false),
            ("bob's", true),
            ("nobody's", true),
            ("new", true),
        ] {
            let kept = answer(store.reset_token(&hash(label)).await);
            assert_eq!(kept.is_some(), there, "{label}");
        }
    }

    /// S3, S5, 113: its subject is signed out everywhere in the same step.
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

    /// S5, 114: what was issued for an address that nobody has.
    pub async fn a_reset_token_of_nobody_opens_nothing(store: &Arc<dyn SessionStore>) {
        answer(store.put_reset_token(reset("nobody's", None)).await);
        assert_eq!(redeemed(store, "nobody's").await, ResetOutcome::NotFound);
        assert_eq!(redeemed(store, "never issued").await, ResetOutcome::NotFound);
    }

    /// S5: and an expired one ends nothing.
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

    /// S5, 111: single use, whoever comes at once.
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

    /// S5: newest only, whoever asks at once.
    pub async fn of_32_reset_tokens_of_one_subject_one_is_left(store: &Arc<dyn SessionStore>) {
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

    /// At the exact instant, counted.
    pub async fn purging_drops_expired_reset_tokens_and_nothing_else(store: &Arc<dyn SessionStore>) {
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
