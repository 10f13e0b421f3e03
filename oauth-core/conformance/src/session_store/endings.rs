//! Cases of ending sessions: one session or all sessions of a subject, and the codes and tokens
//! that were granted in them.

/// The cases of endings in `session_store!`.
#[host_ports_conformance::kit(session_store_endings)]
mod cases {
    use std::sync::Arc;

    use std::time::Duration;

    use crate::records::race;
    use crate::records::{NANOSECOND, answer, code, grant, hash, redemption, session, session_id, start};
    use crate::session_store::{alive, populate};
    use host_ports_conformance::RACERS;
    use oauth_core::store::{
        Insertion, RedeemOutcome, RevocationReason, Revoked, SessionOutcome, SessionRecord, SessionRenewal,
        SessionStore,
    };
    use oauth_core::vocabulary::Subject;

    const REASON: RevocationReason = RevocationReason::SignedOutEverywhere;
    const NOTHING: [bool; 9] = [false; 9];
    const EVERYTHING: [bool; 9] = [true; 9];

    fn ada() -> Subject {
        grant().subject
    }

    fn bob() -> Subject {
        "bob".parse().expect("printable")
    }

    /// S1, 110: ending a session revokes the families and drops the codes that name it, and no
    /// others.
    pub async fn ending_session_revokes_its_grants(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        let revoked = answer(store.end_session(&session_id("ada one"), REASON, start()).await);
        let expected = Revoked {
            sessions: 1,
            families: 1,
            codes: 1,
            reset_tokens: 0,
        };
        assert_eq!(revoked, expected);
        let left = [false, true, false, false, false, true, true, true, true];
        assert_eq!(alive(store, "ada").await, left);
    }

    /// S1, 110: a session can be ended with its secret or with the secret before the last renewal,
    /// and with no other secret.
    pub async fn session_is_ended_by_current_or_previous_secret(store: &Arc<dyn SessionStore>) {
        let left = [false, true, false, false, false, true, true, true, true];
        for (name, by, ends) in [
            ("first", "first one", false),
            ("second", "second second", true),
            ("third", "third third", true),
            ("unknown", "unknown unknown", false),
        ] {
            let subject: Subject = name.parse().expect("printable");
            populate(store, name, &subject).await;
            let of = |secret: &str| hash(&format!("{name} {secret}"));
            for (old, new) in [("one", "second"), ("second", "third")] {
                let (old, new) = (of(old), of(new));
                let renewed = store.renew_session(&old, new, SessionRenewal::Escalated, start());
                assert_eq!(answer(renewed.await), SessionOutcome::Done);
            }
            let before = answer(store.session(&of("third")).await).expect("it was renewed");
            let after = if ends {
                before.revoke(REASON, start())
            } else {
                None
            };
            for expected in [after.clone(), None] {
                let ended = store.end_session_by_secret(&hash(by), REASON, start()).await;
                assert_eq!(answer(ended), expected, "{name}");
            }
            let found = answer(store.session(&of("third")).await);
            assert_eq!(found, Some(after.unwrap_or(before)), "{name}");
            let [_, others @ ..] = alive(store, name).await;
            let [_, expected @ ..] = if ends { left } else { EVERYTHING };
            assert_eq!(others, expected, "{name}");
        }
    }

    /// S1, S2, 110: signing out of a session after its idle timeout revokes its grants. This works
    /// until the absolute timeout, with the current secret and the one before the last renewal, and
    /// also after a purge.
    pub async fn signing_out_of_idle_session_revokes_its_grants(store: &Arc<dyn SessionStore>) {
        // the reset token has expired by then
        let left = [true, true, false, false, false, true, true, true, false];
        for (name, by) in [("now", "now renewed"), ("before", "before one")] {
            populate(store, name, &name.parse().expect("printable")).await;
            let (old, new) = (hash(&format!("{name} one")), hash(&format!("{name} renewed")));
            let renewed = store.renew_session(&old, new, SessionRenewal::Escalated, start());
            assert_eq!(answer(renewed.await), SessionOutcome::Done);
            let idle = answer(store.session(&new).await).expect("it was renewed");
            let _count = answer(store.purge_sessions(idle.active_until()).await);
            let now = idle.expires_at - NANOSECOND;
            for _ in 0..2 {
                let ended = answer(store.end_session_by_secret(&hash(by), REASON, now).await);
                assert_eq!(ended, None, "{name}");
                assert_eq!(answer(store.session(&new).await), Some(idle.clone()), "{name}");
                let [_, others @ ..] = alive(store, name).await;
                let [_, expected @ ..] = left;
                assert_eq!(others, expected, "{name}");
            }
        }
    }

    /// S1, S4: if renewals race the end of a session, no secret opens the session afterwards.
    pub async fn ending_wins_over_racing_renewals(store: &Arc<dyn SessionStore>) {
        for round in ["a", "b", "c", "d"] {
            let open = session(round);
            assert_eq!(
                answer(store.insert_session(open.clone()).await),
                Insertion::Inserted
            );
            let old = open.hash;
            let ended = race(store, async move |store, index| {
                if index == RACERS / 2 {
                    let ended = store.end_session_by_secret(&old, REASON, start()).await?;
                    return Ok(usize::from(ended.is_some()));
                }
                let new = hash(&format!("{round} {index}"));
                let renewal = SessionRenewal::Escalated;
                let _any = store.renew_session(&old, new, renewal, start()).await?;
                Ok(0)
            })
            .await;
            assert_eq!(ended.iter().sum::<usize>(), 1, "{round}");
            let left = answer(store.sessions_of(&open.subject, start()).await);
            assert_eq!(left, [], "{round}");
        }
    }

    /// S3, 110: a code whose session has ended, or never existed, is refused.
    pub async fn code_of_ended_session_is_refused(store: &Arc<dyn SessionStore>) {
        let ended = session("ended");
        assert_eq!(
            answer(store.insert_session(ended.clone()).await),
            Insertion::Inserted
        );
        let _counts = answer(store.end_session(&ended.id, REASON, start()).await);
        for name in ["ended", "never there"] {
            let mut late = code(name);
            late.grant.session = Some(session_id(name));
            assert_eq!(answer(store.insert_code(late).await), Insertion::Inserted);
            let mut wanted = redemption(name, name);
            wanted.family.grant.session = Some(session_id(name));
            let redeemed = answer(store.redeem_code(wanted, start()).await);
            assert_eq!(redeemed, RedeemOutcome::SessionEnded);
            let bought = answer(store.refresh_token(&hash(&format!("{name} rt 0"))).await);
            assert!(bought.is_none(), "{name}");
            let spent = answer(store.code(&hash(name)).await).and_then(|code| code.redeemed);
            assert_eq!(spent, None, "{name}");
        }
    }

    /// S2, S3: a code is refused from the exact instant at which its session expires, because the
    /// expiry itself revokes no codes.
    pub async fn code_of_expired_session_is_refused(store: &Arc<dyn SessionStore>) {
        let short = SessionRecord {
            expires_at: start() + Duration::from_secs(30),
            ..session("short")
        };
        let end = short.expires_at;
        assert_eq!(answer(store.insert_session(short).await), Insertion::Inserted);
        for (name, now, expected) in [
            ("late", end, RedeemOutcome::SessionEnded),
            ("in time", end - NANOSECOND, RedeemOutcome::Redeemed),
        ] {
            let mut code = code(name);
            code.grant.session = Some(session_id("short"));
            assert_eq!(answer(store.insert_code(code).await), Insertion::Inserted);
            let mut wanted = redemption(name, name);
            wanted.family.grant.session = Some(session_id("short"));
            assert_eq!(answer(store.redeem_code(wanted, now).await), expected, "{name}");
        }
    }

    /// S3: if redemptions race the end of their session, no token is active afterwards.
    pub async fn ending_wins_over_racing_redemptions(store: &Arc<dyn SessionStore>) {
        let open = session("open");
        assert_eq!(
            answer(store.insert_session(open.clone()).await),
            Insertion::Inserted
        );
        for index in 1..RACERS {
            let mut code = code(&index.to_string());
            code.grant.session = Some(open.id);
            assert_eq!(answer(store.insert_code(code).await), Insertion::Inserted);
        }
        let id = open.id;
        race(store, async move |store, index| {
            if index == 0 {
                let _counts = store.end_session(&id, REASON, start()).await?;
            } else {
                let mut wanted = redemption(&index.to_string(), &index.to_string());
                wanted.family.grant.session = Some(id);
                let _any = store.redeem_code(wanted, start()).await?;
            }
            Ok(())
        })
        .await;
        for index in 1..RACERS {
            let bought = answer(store.refresh_token(&hash(&format!("{index} rt 0"))).await);
            assert!(!bought.is_some_and(|state| state.is_active(start())), "{index}");
        }
    }

    /// S3, 107: `revoke_subject` ends sessions, families, codes and reset tokens in one step.
    pub async fn revoke_subject_ends_all_and_spares_others(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        populate(store, "bob", &bob()).await;
        let revoked = answer(store.revoke_subject(&ada(), None, REASON, start()).await);
        let all = Revoked {
            sessions: 2,
            families: 2,
            codes: 2,
            reset_tokens: 1,
        };
        assert_eq!(revoked, all);
        assert_eq!(alive(store, "ada").await, NOTHING);
        assert_eq!(alive(store, "bob").await, EVERYTHING);
        let family = answer(store.refresh_token(&hash("ada alone rt 0")).await);
        let revocation = family
            .and_then(|state| state.family.revoked)
            .expect("a revocation");
        assert_eq!((revocation.reason, revocation.at), (REASON, start()));
    }

    /// S3, 107: `revoke_subject` can keep the session of the calling browser, with its grants.
    pub async fn revoke_subject_spares_kept_session(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        let kept = session_id("ada one");
        let revoked = answer(store.revoke_subject(&ada(), Some(&kept), REASON, start()).await);
        assert_eq!((revoked.sessions, revoked.families, revoked.codes), (1, 1, 1));
        let left = [true, false, true, true, true, false, false, false, false];
        assert_eq!(alive(store, "ada").await, left);
    }

    /// S3: a second revocation changes nothing, and the first reason stays.
    pub async fn second_revocation_changes_nothing(store: &Arc<dyn SessionStore>) {
        populate(store, "ada", &ada()).await;
        let _counts = answer(store.revoke_subject(&ada(), None, REASON, start()).await);
        let (reason, later) = (
            RevocationReason::SuspiciousActivity,
            start() + Duration::from_secs(60),
        );
        let second = answer(store.revoke_subject(&ada(), None, reason, later).await);
        assert_eq!(second, Revoked::default());
        let state = answer(store.refresh_token(&hash("ada alone rt 0")).await);
        let revocation = state.and_then(|state| state.family.revoked);
        assert_eq!(revocation.map(|revocation| revocation.reason), Some(REASON));
        let session = answer(store.session(&hash("ada one")).await);
        let end = session.and_then(|session| session.ended);
        assert_eq!(end.map(|end| end.reason), Some(REASON));
    }
}

pub use cases::*;
