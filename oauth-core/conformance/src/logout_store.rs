//! Conformance kit for [`LogoutStore`](oauth_core::store::LogoutStore).
//!
//! `logout_store!(#[tokio::test] expression)` expands to one test per case; `expression` makes an
//! empty store.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// The cases of `logout_store!`.
#[host_ports_conformance::kit(logout_store)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use crate::records::race;
    use crate::records::{
        NANOSECOND, answer, code, family_id, hash, redemption, reset, session, session_id, start,
    };
    use oauth_core::store::{
        Insertion, LogoutRecord, LogoutStore, RedeemOutcome, ResetOutcome, RevocationReason, RevokeOutcome,
    };
    use oauth_core::vocabulary::{ClientId, Subject};

    const REASON: RevocationReason = RevocationReason::SignedOut;
    const MINUTE: Duration = Duration::from_secs(60);

    /// O34: the end of a session queues one logout per client, also for a client with several
    /// grants, and none for other sessions and for grants without a session.
    pub async fn ended_session_queues_a_logout_per_client(store: &Arc<dyn LogoutStore>) {
        let hostile = "client 'one' \"two\" %_;--";
        grant_in(store, "one", "first", hostile, "ada 'a' %_").await;
        grant_in(store, "one", "second", hostile, "ada 'a' %_").await;
        grant_in(store, "one", "third", "app", "ada 'a' %_").await;
        grant_in(store, "two", "fourth", "app", "ada 'a' %_").await;
        redeem(store, "fifth", "app", "ada 'a' %_", None).await;
        assert_eq!(leased(store, start()).await, []);

        let _counts = answer(store.end_session(&session_id("one"), REASON, start()).await);
        let mut expected = [hostile, "app"].map(|client_id| leased_at("one", client_id, "ada 'a' %_"));
        expected.sort_by(|a, b| a.client_id.cmp(&b.client_id));
        let mut queued = leased(store, start()).await;
        queued.sort_by(|a, b| a.client_id.cmp(&b.client_id));
        assert_eq!(queued, expected);
    }

    /// O34: a second end of the session queues nothing, whether the logout is still queued or was
    /// delivered.
    pub async fn second_end_queues_nothing(store: &Arc<dyn LogoutStore>) {
        grant_in(store, "one", "first", "web", "ada").await;
        let end = async || answer(store.end_session(&session_id("one"), REASON, start()).await);
        let _counts = (end().await, end().await);
        let queued = leased(store, start()).await;
        assert_eq!(queued, [leased_at("one", "web", "ada")]);
        let _counts = end().await;
        assert_eq!(leased(store, start()).await, []);
        assert!(settled(store, &leased_at("one", "web", "ada"), None).await);
        let _counts = end().await;
        assert_eq!(leased(store, start() + MINUTE).await, []);
    }

    /// O34: a client whose family was revoked before, for example because its refresh token was
    /// stolen, gets a logout when its session ends.
    pub async fn client_of_revoked_family_gets_logout(store: &Arc<dyn LogoutStore>) {
        grant_in(store, "one", "stolen", "web", "ada").await;
        grant_in(store, "two", "other", "web", "ada").await;
        let reused = RevocationReason::RefreshTokenReused;
        let revoked = store.revoke_family(&family_id("stolen"), reused, start()).await;
        assert_eq!(answer(revoked), RevokeOutcome::Revoked);
        assert_eq!(leased(store, start()).await, []);
        let ada = "ada".parse().expect("a subject");
        let keep = session_id("two");
        let _counts = answer(store.revoke_subject(&ada, Some(&keep), REASON, start()).await);
        assert_eq!(leased(store, start()).await, [leased_at("one", "web", "ada")]);
    }

    /// O34: if the grants of a session end again while an attempt runs, this attempt cannot settle
    /// the logout, and it is due at once.
    pub async fn end_during_an_attempt_queues_again(store: &Arc<dyn LogoutStore>) {
        let (ada, web): (Subject, ClientId) = (
            "ada".parse().expect("a subject"),
            "web".parse().expect("a client id"),
        );
        grant_in(store, "one", "first", "web", "ada").await;
        let _counts = answer(store.revoke_grants(&ada, &web, REASON, start()).await);
        let running = leased(store, start()).await.into_iter().next().expect("a lease");
        redeem(store, "second", "web", "ada", Some("one")).await;
        let later = start() + NANOSECOND;
        let _counts = answer(store.end_session(&session_id("one"), REASON, later).await);
        assert!(!settled(store, &running, None).await);
        let again = leased(store, later).await;
        let [again] = again.as_slice() else {
            unreachable!("one logout is due: {again:?}");
        };
        assert_eq!(
            (again.attempts, again.expires_at),
            (1, later + LogoutRecord::LIFETIME)
        );
        assert!(settled(store, again, None).await);
    }

    /// O34: an attempt of a logout that was delivered since cannot settle a later logout of the
    /// same client and session.
    pub async fn old_attempt_settles_no_later_logout(store: &Arc<dyn LogoutStore>) {
        let (ada, web): (Subject, ClientId) = (
            "ada".parse().expect("a subject"),
            "web".parse().expect("a client id"),
        );
        let sign_out = async |now: SystemTime| {
            let _counts = answer(store.revoke_grants(&ada, &web, REASON, now).await);
        };
        let lease = async |now: SystemTime| {
            let leased = leased(store, now).await;
            leased.into_iter().next().expect("a lease")
        };
        grant_in(store, "one", "first", "web", "ada").await;
        sign_out(start()).await;
        let old = lease(start()).await;
        let delivered = lease(start() + MINUTE).await;
        assert!(settled(store, &delivered, None).await);
        redeem(store, "second", "web", "ada", Some("one")).await;
        sign_out(start() + MINUTE * 2).await;
        let later = lease(start() + MINUTE * 2).await;
        assert!(!settled(store, &old, None).await);
        assert!(!settled(store, &delivered, Some(start())).await);
        assert!(settled(store, &later, None).await);
    }

    /// O34: each way to end sessions or grants queues their logouts: by the secret, everywhere
    /// except one session, at one client, and by a password reset.
    pub async fn each_end_queues_its_logouts(store: &Arc<dyn LogoutStore>) {
        let ada: Subject = "ada".parse().expect("a subject");
        for (label, client) in [("one", "web"), ("two", "web"), ("three", "app"), ("four", "web")] {
            grant_in(store, label, label, client, "ada").await;
        }
        grant_in(store, "of bob", "of bob", "web", "bob").await;
        let queued = async || {
            let queued = leased(store, start()).await;
            let mut sessions: Vec<_> = queued.iter().map(|logout| logout.session).collect();
            sessions.sort();
            sessions
        };
        let of = |labels: &[&str]| {
            let mut sessions: Vec<_> = labels.iter().map(|label| session_id(label)).collect();
            sessions.sort();
            sessions
        };
        let ended = store.end_session_by_secret(&hash("one"), REASON, start()).await;
        assert!(answer(ended).is_some());
        assert_eq!(queued().await, of(&["one"]));

        let app: ClientId = "app".parse().expect("a client id");
        let _counts = answer(store.revoke_grants(&ada, &app, REASON, start()).await);
        assert_eq!(queued().await, of(&["three"]));

        let keep = session_id("two");
        let _counts = answer(store.revoke_subject(&ada, Some(&keep), REASON, start()).await);
        // the session of the application that was signed out before ends here
        assert_eq!(queued().await, of(&["three", "four"]));

        answer(store.put_reset_token(reset("reset", Some(ada))).await);
        let redeemed = answer(store.redeem_reset_token(&hash("reset"), start()).await);
        assert!(matches!(redeemed, ResetOutcome::Redeemed { .. }));
        assert_eq!(queued().await, of(&["two"]));
    }

    /// O34: a lease excludes other callers until its end and counts an attempt; a logout that was
    /// postponed is due at its instant.
    pub async fn leased_logout_is_due_after_its_lease(store: &Arc<dyn LogoutStore>) {
        grant_in(store, "one", "first", "web", "ada").await;
        let _counts = answer(store.end_session(&session_id("one"), REASON, start()).await);
        assert_eq!(leased(store, start() - NANOSECOND).await, []);
        let first = leased(store, start()).await;
        assert_eq!(first, [leased_at("one", "web", "ada")]);
        assert_eq!(leased(store, start() + MINUTE - NANOSECOND).await, []);
        let again = leased(store, start() + MINUTE).await;
        let second = [first
            .first()
            .cloned()
            .and_then(|logout| logout.lease(start() + MINUTE))];
        assert_eq!(again.iter().cloned().map(Some).collect::<Vec<_>>(), second);

        // the first lease was lost
        let first = first.into_iter().next().expect("a lease");
        let second = again.into_iter().next().expect("a lease");
        let retry_at = start() + MINUTE * 5 + NANOSECOND;
        assert!(!settled(store, &first, None).await);
        assert!(!settled(store, &first, Some(start())).await);
        assert!(settled(store, &second, Some(retry_at)).await);
        assert_eq!(leased(store, retry_at - NANOSECOND).await, []);
        let third = leased(store, retry_at).await.into_iter().next().expect("a lease");
        assert_eq!((third.attempts, third.due_at), (3, retry_at + MINUTE));
        assert!(settled(store, &third, None).await);
        assert!(!settled(store, &third, None).await);
        assert_eq!(leased(store, retry_at + MINUTE).await, []);
    }

    /// O34: logouts are leased in the order of their instants, up to the limit.
    pub async fn earliest_logouts_are_leased_first(store: &Arc<dyn LogoutStore>) {
        for label in ["b", "a", "c"] {
            grant_in(store, label, label, "web", "ada").await;
        }
        for (label, seconds) in [("a", 3), ("b", 1), ("c", 2)] {
            let now = start() + Duration::from_secs(seconds);
            let _counts = answer(store.end_session(&session_id(label), REASON, now).await);
        }
        let now = start() + Duration::from_secs(3);
        let mut order = Vec::new();
        for limit in [0, 1, 5] {
            for logout in answer(store.lease_logouts(limit, now).await) {
                order.push((limit, logout.session));
            }
        }
        let expected = [(1, "b"), (5, "c"), (5, "a")];
        assert_eq!(order, expected.map(|(limit, label)| (limit, session_id(label))));
    }

    /// O34: of 32 callers exactly one leases each logout.
    pub async fn one_of_32_callers_leases_a_logout(store: &Arc<dyn LogoutStore>) {
        for index in 0..8 {
            grant_in(
                store,
                "one",
                &format!("grant {index}"),
                &format!("web{index}"),
                "ada",
            )
            .await;
        }
        let _counts = answer(store.end_session(&session_id("one"), REASON, start()).await);
        let leases = race(store, async |store: Arc<dyn LogoutStore>, _| {
            store.lease_logouts(64, start()).await
        });
        let mut clients: Vec<_> = leases.await.concat();
        // a store may skip rows that another caller is leasing
        clients.extend(leased(store, start()).await);
        clients.sort_by(|a, b| a.client_id.cmp(&b.client_id));
        let names: Vec<_> = clients.iter().map(|logout| logout.client_id.as_str()).collect();
        assert_eq!(
            names,
            ["web0", "web1", "web2", "web3", "web4", "web5", "web6", "web7"]
        );
    }

    /// O34: a logout that expired is neither leased nor kept.
    pub async fn expired_logout_is_purged(store: &Arc<dyn LogoutStore>) {
        grant_in(store, "one", "first", "web", "ada").await;
        grant_in(store, "two", "second", "web", "ada").await;
        let _counts = answer(store.end_session(&session_id("one"), REASON, start()).await);
        let later = start() + MINUTE;
        let _counts = answer(store.end_session(&session_id("two"), REASON, later).await);
        let end = start() + LogoutRecord::LIFETIME;
        // the ended sessions themselves
        assert_eq!(answer(store.purge_sessions(end - NANOSECOND).await), 2);
        assert_eq!(answer(store.purge_sessions(end).await), 1);
        let left: Vec<_> = leased(store, end).await;
        let sessions: Vec<_> = left.iter().map(|logout| logout.session).collect();
        assert_eq!(sessions, [session_id("two")]);
        assert_eq!(leased(store, end + MINUTE).await, []);
    }

    async fn leased(store: &Arc<dyn LogoutStore>, now: SystemTime) -> Vec<LogoutRecord> {
        answer(store.lease_logouts(64, now).await)
    }

    async fn settled(
        store: &Arc<dyn LogoutStore>,
        logout: &LogoutRecord,
        retry_at: Option<SystemTime>,
    ) -> bool {
        answer(store.settle_logout(logout, retry_at).await)
    }

    /// The logout of a session that ended at the start, after its first lease at the start.
    fn leased_at(session: &str, client_id: &str, subject: &str) -> LogoutRecord {
        let (client_id, subject) = (client_id.parse(), subject.parse());
        let queued = LogoutRecord::new(
            client_id.expect("a client id"),
            session_id(session),
            subject.expect("a subject"),
            start(),
        );
        queued.lease(start()).expect("it is due")
    }

    /// Redeems a code of a client in a session, which is created if it does not exist.
    async fn grant_in(store: &Arc<dyn LogoutStore>, of: &str, label: &str, client_id: &str, subject: &str) {
        let mut begun = session(of);
        begun.subject = subject.parse().expect("a subject");
        let _insertion = answer(store.insert_session(begun).await);
        redeem(store, label, client_id, subject, Some(of)).await;
    }

    async fn redeem(
        store: &Arc<dyn LogoutStore>,
        label: &str,
        client_id: &str,
        subject: &str,
        of: Option<&str>,
    ) {
        let mut code = code(label);
        code.grant.client_id = client_id.parse().expect("a client id");
        code.grant.subject = subject.parse().expect("a subject");
        code.grant.session = of.map(session_id);
        let mut redemption = redemption(label, label);
        redemption.family.grant = code.grant.clone();
        assert_eq!(answer(store.insert_code(code).await), Insertion::Inserted);
        let outcome = answer(store.redeem_code(redemption, start()).await);
        assert_eq!(outcome, RedeemOutcome::Redeemed);
    }
}

pub use cases::*;
