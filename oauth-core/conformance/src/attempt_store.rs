//! Conformance kit for [`AttemptStore`](oauth_core::store::AttemptStore).
//!
//! `attempt_store!(#[tokio::test] expression)` expands to one test per case; `expression` makes an
//! empty store.
//!
//! A *tally* counts the attempts under a *name*, the hash in an
//! [`AttemptKey`](oauth_core::attempts::AttemptKey). A name is *closed* while its next attempt must
//! wait. The *standing* of a name is `Refused` while the name is closed, and otherwise `Admitted`.

/// The cases of `attempt_store!`.
#[host_ports_conformance::kit(attempt_store)]
mod cases {
    use std::sync::Arc;

    use std::num::NonZeroU32;
    use std::time::{Duration, SystemTime};

    use crate::records::race;
    use crate::records::{NANOSECOND, answer, start};
    use host_ports_conformance::RACERS;
    use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy, Source};
    use oauth_core::store::AttemptStore;

    /// Number of other names with one attempt each.
    const FLOOD: usize = 2_000;

    /// Number of expired names that fill a small store.
    const FORGOTTEN: usize = 200;
    /// Number of new names that then arrive: more than one eviction frees, fewer than the capacity.
    const NEW: usize = 16;

    const WAIT: Duration = Duration::from_secs(60);
    const WINDOW: Duration = Duration::from_secs(600);

    /// Five attempts, then waits of 1 and 2 minutes; a tally expires after 10 minutes.
    fn policy() -> AttemptPolicy {
        let five = NonZeroU32::MIN.saturating_add(4);
        AttemptPolicy::new(five, WINDOW).with_backoff(WAIT, 2 * WAIT)
    }

    fn ada() -> AttemptKey {
        AttemptKey::subject("ada@example.com")
    }

    const fn refused(retry_after: Duration) -> Admission {
        Admission::Refused { retry_after }
    }

    async fn admit(store: &dyn AttemptStore, key: AttemptKey, now: SystemTime) -> Admission {
        answer(store.admit(&key, &policy(), now).await)
    }

    async fn standing(store: &dyn AttemptStore, key: AttemptKey, now: SystemTime) -> Admission {
        answer(store.standing(&key, now).await)
    }

    /// Makes all five free attempts at `now`.
    async fn close(store: &dyn AttemptStore, key: AttemptKey, now: SystemTime) {
        for attempt in 0..5 {
            assert_eq!(admit(store, key, now).await, Admission::Admitted, "{attempt}");
        }
    }

    /// O27, 14: the policy admits five attempts and refuses the sixth.
    pub async fn five_attempts_are_admitted(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        assert_eq!(admit(store, ada(), start()).await, refused(WAIT));
        assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
    }

    /// O27, 14: the wait ends at the exact nanosecond, and `retry_after` is the remaining wait.
    pub async fn wait_ends_at_exact_instant(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let (end, early) = (start() + WAIT, start() + WAIT - NANOSECOND);
        assert_eq!(standing(store, ada(), early).await, refused(NANOSECOND));
        assert_eq!(admit(store, ada(), early).await, refused(NANOSECOND));
        assert_eq!(standing(store, ada(), end).await, Admission::Admitted);
        assert_eq!(admit(store, ada(), end).await, Admission::Admitted);
    }

    /// O27: refused attempts do not extend the wait, so that an attacker cannot lock the user out.
    pub async fn refused_attempt_does_not_extend_wait(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        for _ in 0..100 {
            assert_eq!(admit(store, ada(), start()).await, refused(WAIT));
        }
        assert_eq!(admit(store, ada(), start() + WAIT).await, Admission::Admitted);
    }

    /// O27, 14: after each wait one attempt is admitted; the next wait is twice as long, up to the
    /// maximum.
    pub async fn waits_double(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let mut now = start() + WAIT;
        for wait in [2 * WAIT, 2 * WAIT] {
            assert_eq!(admit(store, ada(), now).await, Admission::Admitted);
            assert_eq!(admit(store, ada(), now).await, refused(wait));
            now += wait;
        }
    }

    /// O27: a tally expires 10 minutes after the last attempt.
    pub async fn tally_expires_at_exact_instant(store: &Arc<dyn AttemptStore>) {
        for (key, end, left) in [
            (ada(), start() + WINDOW - NANOSECOND, 1),
            (AttemptKey::subject("eve"), start() + WINDOW, 5),
        ] {
            for _ in 0..4 {
                assert_eq!(admit(store, key, start()).await, Admission::Admitted);
            }
            for _ in 0..left {
                assert_eq!(admit(store, key, end).await, Admission::Admitted);
            }
            assert_eq!(admit(store, key, end).await, refused(WAIT));
        }
    }

    /// O27, 14: a successful attempt clears the tally, even if it was the last free one.
    pub async fn forgive_clears_attempts(store: &Arc<dyn AttemptStore>) {
        answer(store.forgive(&ada()).await);
        for _ in 0..3 {
            close(store, ada(), start()).await;
            assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
            answer(store.forgive(&ada()).await);
            assert_eq!(standing(store, ada(), start()).await, Admission::Admitted);
        }
    }

    /// O27: a lookup of the standing counts no attempt.
    pub async fn standing_is_read_only(store: &Arc<dyn AttemptStore>) {
        for _ in 0..100 {
            assert_eq!(standing(store, ada(), start()).await, Admission::Admitted);
        }
        close(store, ada(), start()).await;
    }

    /// O27, 14: a tally belongs to exactly one name, whatever bytes the name holds.
    pub async fn names_are_counted_separately(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let source = Source::new([192, 0, 2, 1].into());
        let hostile = "x".repeat(1 << 20);
        let names = [
            "",
            "\0",
            "ada@example.com\0",
            "Ada@example.com",
            "'; --",
            "%_",
            &hostile,
        ];
        let others = names.map(AttemptKey::subject).into_iter().chain([
            ada().from_source(source),
            AttemptKey::reset("ada@example.com"),
            AttemptKey::named("client", "ada@example.com"),
        ]);
        for other in others {
            close(store, other, start()).await;
            assert_eq!(admit(store, other, start()).await, refused(WAIT));
            answer(store.forgive(&other).await);
            assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
        }
    }

    /// O27, 14: 32 concurrent attempts get five admissions.
    pub async fn five_of_32_attempts_are_admitted(store: &Arc<dyn AttemptStore>) {
        let (key, policy) = (ada(), policy());
        let admissions = race(store, async move |store, _| {
            store.admit(&key, &policy, start()).await
        })
        .await;
        assert_eq!(admissions.len(), RACERS);
        assert_eq!(admitted(&admissions), 5);
    }

    /// O27, 14: one of 32 concurrent attempts is admitted when a wait ends.
    pub async fn one_of_32_attempts_is_admitted_after_a_wait(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let (key, policy, end) = (ada(), policy(), start() + WAIT);
        let admissions = race(store, async move |store, _| store.admit(&key, &policy, end).await).await;
        assert_eq!(admitted(&admissions), 1);
    }

    /// O27, 14: while a name is closed, concurrent lookups and attempts are all refused.
    pub async fn closed_name_refuses_every_racer(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let (key, policy) = (ada(), policy());
        let admissions = race(store, async move |store, index| {
            if index % 2 == 0 {
                store.standing(&key, start()).await
            } else {
                store.admit(&key, &policy, start()).await
            }
        })
        .await;
        assert_eq!(admitted(&admissions), 0);
    }

    /// O27: of 16 attempts that are concurrent with 16 purges, five are admitted.
    pub async fn purge_keeps_active_tallies(store: &Arc<dyn AttemptStore>) {
        let (key, policy) = (ada(), policy());
        let admissions = race(store, async move |store, index| {
            if index % 2 == 0 {
                store.purge_attempts(start()).await?;
                return Ok(refused(WAIT));
            }
            store.admit(&key, &policy, start()).await
        })
        .await;
        assert_eq!(admitted(&admissions), 5);
    }

    /// A purge drops tallies at the exact instant of their expiry and counts them.
    pub async fn purge_drops_expired_tallies_only(store: &Arc<dyn AttemptStore>) {
        let (end, eve) = (start() + WINDOW, AttemptKey::subject("eve"));
        assert_eq!(admit(store, eve, start()).await, Admission::Admitted);
        close(store, ada(), start() + NANOSECOND).await;
        assert_eq!(answer(store.purge_attempts(end - NANOSECOND).await), 0);
        assert_eq!(answer(store.purge_attempts(end).await), 1);
        assert_eq!(answer(store.purge_attempts(end).await), 0);
        // the wait is over, but the tally still counts
        assert_eq!(admit(store, ada(), end).await, Admission::Admitted);
        assert_eq!(admit(store, ada(), end).await, refused(2 * WAIT));
    }

    /// O27, 14: attempts under other names do not reopen a closed name.
    pub async fn flood_of_names_keeps_closed_name_closed(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        for index in 0..FLOOD {
            let name = AttemptKey::subject(&index.to_string());
            assert_eq!(admit(store, name, start()).await, Admission::Admitted);
        }
        assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
    }

    /// O27, 14: a full store evicts expired tallies first, whatever their number of attempts.
    pub async fn expired_tallies_are_evicted_first(store: &Arc<dyn AttemptStore>) {
        let brief = AttemptPolicy::new(policy().attempts(), WAIT);
        let now = start() + WAIT;
        for index in 0..FORGOTTEN {
            let name = AttemptKey::named("forgotten", &index.to_string());
            for _ in 0..2 {
                assert!(answer(store.admit(&name, &brief, start()).await).is_admitted());
            }
        }
        assert_eq!(admit(store, ada(), now).await, Admission::Admitted);
        for index in 0..NEW {
            let name = AttemptKey::subject(&index.to_string());
            assert_eq!(admit(store, name, now + NANOSECOND).await, Admission::Admitted);
        }
        for _ in 0..4 {
            assert_eq!(admit(store, ada(), now).await, Admission::Admitted);
        }
        assert_eq!(admit(store, ada(), now).await, refused(WAIT));
    }

    fn admitted(admissions: &[Admission]) -> usize {
        admissions
            .iter()
            .filter(|admission| admission.is_admitted())
            .count()
    }
}

pub use cases::*;
