//! Cases of storing, touching and renewing sessions.

/// The cases of sessions in `session_store!`.
#[host_ports_conformance::kit(session_store_sessions)]
mod cases {
    use std::sync::Arc;

    use std::time::{Duration, SystemTime};

    use crate::records::race;
    use crate::records::{NANOSECOND, answer, hash, session, session_id, start};
    use host_ports_conformance::RACERS;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{
        Insertion, RevocationReason, Revoked, SessionEnd, SessionOutcome, SessionRecord, SessionRenewal,
        SessionStore,
    };

    const MINUTE: Duration = Duration::from_secs(60);
    const REASON: RevocationReason = RevocationReason::SignedOut;
    const ESCALATED: SessionRenewal = SessionRenewal::Escalated;

    /// S1: a session is read back with every field; an unknown one is absent.
    pub async fn a_session_is_read_back_as_it_was_stored(store: &Arc<dyn SessionStore>) {
        for hash in [TokenHash::from_bytes([0; 32]), TokenHash::from_bytes([0xff; 32])] {
            let record = SessionRecord {
                hash,
                ..session(&hash.to_string())
            };
            stored(store, record.clone()).await;
            assert_eq!(answer(store.session(&hash).await), Some(record));
        }
        assert_eq!(answer(store.session(&hash("nothing")).await), None);
    }

    /// A second insert with the same secret or the same id is refused, and the first record stays.
    pub async fn an_insert_never_overwrites_a_session(store: &Arc<dyn SessionStore>) {
        let first = stored(store, session("a")).await;
        let same_secret = SessionRecord {
            id: session_id("another"),
            ..first.clone()
        };
        let same_name = SessionRecord {
            hash: hash("another"),
            ..first.clone()
        };
        for mut thief in [same_secret, same_name] {
            thief.subject = "mallory".parse().expect("printable");
            assert_eq!(answer(store.insert_session(thief).await), Insertion::Exists);
        }
        assert_eq!(answer(store.session(&first.hash).await), Some(first));
        assert_eq!(answer(store.session(&hash("another")).await), None);
    }

    /// S2: a touch moves the last use forward, never back, and changes nothing else.
    pub async fn touch_never_moves_backwards(store: &Arc<dyn SessionStore>) {
        let record = stored(store, session("a")).await;
        let used = start() + 10 * MINUTE + NANOSECOND;
        // the second call is out of order
        for now in [used, used - MINUTE] {
            assert_eq!(touched(store, &record, now).await, SessionOutcome::Done);
            let expected = SessionRecord {
                seen_at: used,
                ..record.clone()
            };
            assert_eq!(answer(store.session(&record.hash).await), Some(expected));
        }
    }

    /// S2: from the exact instant of the idle or the absolute timeout, touch and renewal are
    /// refused.
    pub async fn expired_session_is_neither_touched_nor_renewed(store: &Arc<dyn SessionStore>) {
        let idle = stored(store, session("idle")).await;
        let old = SessionRecord {
            expires_at: start() + 20 * MINUTE,
            ..session("old")
        };
        let old = stored(store, old).await;
        for (record, end) in [(&idle, start() + idle.idle), (&old, old.expires_at)] {
            assert_eq!(touched(store, record, end).await, SessionOutcome::Over);
            let renewed = store
                .renew_session(&record.hash, hash("new"), ESCALATED, end)
                .await;
            assert_eq!(answer(renewed), SessionOutcome::Over);
            assert_eq!(answer(store.session(&record.hash).await).as_ref(), Some(record));
            assert_eq!(answer(store.session(&hash("new")).await), None);
            assert_eq!(
                touched(store, record, end - NANOSECOND).await,
                SessionOutcome::Done
            );
        }
    }

    /// S4: a renewal replaces the secret and keeps the id.
    pub async fn renewed_session_has_only_its_new_secret(store: &Arc<dyn SessionStore>) {
        let old = stored(store, session("old")).await;
        let now = start() + NANOSECOND;
        let renewed = store.renew_session(&old.hash, hash("new"), ESCALATED, now).await;
        assert_eq!(answer(renewed), SessionOutcome::Done);
        let expected = SessionRecord {
            hash: hash("new"),
            renewed_from: Some(old.hash),
            seen_at: now,
            ..old.clone()
        };
        assert_eq!(answer(store.session(&hash("new")).await), Some(expected.clone()));
        assert_eq!(answer(store.session(&old.hash).await), None);
        assert_eq!(touched(store, &old, start()).await, SessionOutcome::NotFound);
        let again = store
            .renew_session(&old.hash, hash("another"), ESCALATED, start())
            .await;
        assert_eq!(answer(again), SessionOutcome::NotFound);
        assert_eq!(answer(store.session(&hash("another")).await), None);
        assert_eq!(answer(store.sessions_of(&old.subject, now).await), [expected]);
    }

    /// S4: a renewal after a new authentication (`Proven`) sets `auth_time` with nanoseconds, in
    /// addition to the fields that every renewal sets.
    pub async fn proven_renewal_updates_sign_in_time(store: &Arc<dyn SessionStore>) {
        let old = stored(store, session("old")).await;
        let now = start() + MINUTE + NANOSECOND;
        let renewed = store.renew_session(&old.hash, hash("new"), SessionRenewal::Proven, now);
        assert_eq!(answer(renewed.await), SessionOutcome::Done);
        let expected = SessionRecord {
            hash: hash("new"),
            renewed_from: Some(old.hash),
            auth_time: now,
            seen_at: now,
            ..old
        };
        assert_eq!(answer(store.session(&hash("new")).await), Some(expected));
    }

    /// S1, S3: an ended session stays ended, for the first reason.
    pub async fn an_ended_session_stays_ended(store: &Arc<dyn SessionStore>) {
        let record = stored(store, session("a")).await;
        let other = stored(store, session("b")).await;
        let one = Revoked {
            sessions: 1,
            ..Revoked::default()
        };
        let ends = [
            (REASON, one),
            (RevocationReason::SuspiciousActivity, Revoked::default()),
        ];
        for (minute, (reason, expected)) in (0..).zip(ends) {
            let now = start() + minute * MINUTE;
            let revoked = answer(store.end_session(&record.id, reason, now).await);
            assert_eq!(revoked, expected);
        }
        let unknown = answer(store.end_session(&session_id("nothing"), REASON, start()).await);
        assert_eq!(unknown, Revoked::default());
        assert_eq!(touched(store, &record, start()).await, SessionOutcome::Over);
        let renewed = store
            .renew_session(&record.hash, hash("new"), ESCALATED, start())
            .await;
        assert_eq!(answer(renewed), SessionOutcome::Over);
        let ended = SessionRecord {
            ended: Some(SessionEnd::new(REASON, start())),
            ..record.clone()
        };
        assert_eq!(answer(store.session(&record.hash).await), Some(ended));
        assert_eq!(answer(store.session(&other.hash).await), Some(other));
    }

    /// S3: the active sessions of one subject are listed, newest first.
    pub async fn the_active_sessions_of_a_subject_are_listed(store: &Arc<dyn SessionStore>) {
        let first = stored(store, session("first")).await;
        let begun_later = SessionRecord {
            created_at: start() + NANOSECOND,
            ..session("second")
        };
        let second = stored(store, begun_later).await;
        let elsewhere = SessionRecord {
            subject: "another subject".parse().expect("printable"),
            ..session("elsewhere")
        };
        let elsewhere = stored(store, elsewhere).await;
        let over = SessionRecord {
            expires_at: start(),
            ..session("over")
        };
        stored(store, over).await;
        let listed = answer(store.sessions_of(&first.subject, start()).await);
        assert_eq!(listed, [second.clone(), first.clone()]);
        let theirs = answer(store.sessions_of(&elsewhere.subject, start()).await);
        assert_eq!(theirs, [elsewhere]);
        let _counts = answer(store.end_session(&second.id, REASON, start()).await);
        let left = answer(store.sessions_of(&first.subject, start()).await);
        assert_eq!(left, std::slice::from_ref(&first));
        let idle = answer(store.sessions_of(&first.subject, start() + first.idle).await);
        assert_eq!(idle, []);
    }

    /// S4, 106: one of 32 concurrent renewals succeeds, and only its secret is valid.
    pub async fn one_of_32_renewals_succeeds(store: &Arc<dyn SessionStore>) {
        let old = stored(store, session("old")).await;
        let old_hash = old.hash;
        let outcomes = race(store, async move |store, index| {
            store
                .renew_session(&old_hash, hash(&index.to_string()), ESCALATED, start())
                .await
        })
        .await;
        let done = outcomes
            .iter()
            .filter(|outcome| **outcome == SessionOutcome::Done)
            .count();
        assert_eq!(done, 1);
        let mut live = 0;
        for index in 0..RACERS {
            live += usize::from(answer(store.session(&hash(&index.to_string())).await).is_some());
        }
        assert_eq!(live, 1);
        assert_eq!(answer(store.session(&old.hash).await), None);
    }

    /// S1, S3: a touch that races the end of a session does not revive it.
    pub async fn touch_never_revives_ended_session(store: &Arc<dyn SessionStore>) {
        let record = stored(store, session("a")).await;
        let (id, hash) = (record.id, record.hash);
        race(store, async move |store, index| {
            if index == RACERS / 2 {
                let revoked = store.end_session(&id, REASON, start()).await?;
                assert_eq!(revoked.sessions, 1);
            } else {
                let _done_or_over = store.touch_session(&hash, start()).await?;
            }
            Ok(())
        })
        .await;
        let ended = answer(store.session(&record.hash).await).and_then(|session| session.ended);
        assert_eq!(ended, Some(SessionEnd::new(REASON, start())));
    }

    /// A purge drops ended sessions, and others at the exact instant of their absolute timeout, and
    /// counts them. A session after its idle timeout stays, so that its browser can still sign out.
    pub async fn purge_drops_ended_sessions_only(store: &Arc<dyn SessionStore>) {
        let early = stored(store, session("early")).await;
        let late = SessionRecord {
            expires_at: early.expires_at + NANOSECOND,
            ..session("late")
        };
        let late = stored(store, late).await;
        let ended = stored(store, session("ended")).await;
        let _counts = answer(store.end_session(&ended.id, REASON, start()).await);
        let purged = async |now| answer(store.purge_sessions(now).await);
        assert_eq!(purged(start() - NANOSECOND).await, 0);
        assert_eq!(purged(start()).await, 1);
        assert_eq!(answer(store.session(&ended.hash).await), None);
        assert_eq!(purged(early.expires_at - NANOSECOND).await, 0);
        let idle = answer(store.session(&early.hash).await);
        assert_eq!(idle.as_ref(), Some(&early));
        assert_eq!(purged(early.expires_at).await, 1);
        assert_eq!(answer(store.session(&early.hash).await), None);
        assert_eq!(answer(store.session(&late.hash).await), Some(late));
    }

    async fn stored(store: &dyn SessionStore, record: SessionRecord) -> SessionRecord {
        assert_eq!(
            answer(store.insert_session(record.clone()).await),
            Insertion::Inserted
        );
        record
    }

    async fn touched(store: &dyn SessionStore, record: &SessionRecord, now: SystemTime) -> SessionOutcome {
        answer(store.touch_session(&record.hash, now).await)
    }
}

pub use cases::*;
