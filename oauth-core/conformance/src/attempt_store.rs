//! What any [`AttemptStore`] must do.

/// The cases.
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

    /// How many names flood a store.
    const FLOOD: usize = 2_000;

    /// How many names fill a store of few names, and are forgotten.
    const FORGOTTEN: usize = 200;
    /// How many names come to it then: more than it makes room for at once, and fewer than it holds.
    const NEW: usize = 16;

    const WAIT: Duration = Duration::from_secs(60);
    const WINDOW: Duration = Duration::from_secs(600);

    /// Five, then waits of one and two minutes; forgotten after ten.
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

    /// Makes every free attempt at `now`.
    async fn close(store: &dyn AttemptStore, key: AttemptKey, now: SystemTime) {
        for attempt in 0..5 {
            assert_eq!(admit(store, key, now).await, Admission::Admitted, "{attempt}");
        }
    }

    /// O27, 14: five, and then no more.
    pub async fn five_attempts_are_admitted(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        assert_eq!(admit(store, ada(), start()).await, refused(WAIT));
        assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
    }

    /// O27, 14: to the nanosecond, and the wait that is told is the wait that is left.
    pub async fn a_closed_name_opens_at_the_exact_instant(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let (end, early) = (start() + WAIT, start() + WAIT - NANOSECOND);
        assert_eq!(standing(store, ada(), early).await, refused(NANOSECOND));
        assert_eq!(admit(store, ada(), early).await, refused(NANOSECOND));
        assert_eq!(standing(store, ada(), end).await, Admission::Admitted);
        assert_eq!(admit(store, ada(), end).await, Admission::Admitted);
    }

    /// O27: whoever keeps knocking cannot keep the owner out.
    pub async fn a_refused_attempt_prolongs_nothing(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        for _ in 0..100 {
            assert_eq!(admit(store, ada(), start()).await, refused(WAIT));
        }
        assert_eq!(admit(store, ada(), start() + WAIT).await, Admission::Admitted);
    }

    /// O27, 14: one attempt a wait, each twice as long as the one before, up to the longest.
    pub async fn waits_double(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let mut now = start() + WAIT;
        for wait in [2 * WAIT, 2 * WAIT] {
            assert_eq!(admit(store, ada(), now).await, Admission::Admitted);
            assert_eq!(admit(store, ada(), now).await, refused(wait));
            now += wait;
        }
    }

    /// O27: a name that nobody tried for ten minutes was never tried.
    pub async fn attempts_are_forgotten_at_the_exact_instant(store: &Arc<dyn AttemptStore>) {
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

    /// O27, 14: also the one that closed the name; and it is as if there had been none.
    pub async fn an_attempt_that_was_right_is_forgiven(store: &Arc<dyn AttemptStore>) {
        answer(store.forgive(&ada()).await);
        for _ in 0..3 {
            close(store, ada(), start()).await;
            assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
            answer(store.forgive(&ada()).await);
            assert_eq!(standing(store, ada(), start()).await, Admission::Admitted);
        }
    }

    /// O27: whoever is right is right as often as they like.
    pub async fn standing_counts_nothing(store: &Arc<dyn AttemptStore>) {
        for _ in 0..100 {
            assert_eq!(standing(store, ada(), start()).await, Admission::Admitted);
        }
        close(store, ada(), start()).await;
    }

    /// O27, 14: whatever the names are made of.
    pub async fn names_do_not_close_each_other(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let source = Source::of([192, 0, 2, 1].into());
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

    /// O27, 14: whoever comes at once, five guesses are made.
    pub async fn five_of_32_attempts_are_admitted(store: &Arc<dyn AttemptStore>) {
        let (key, policy) = (ada(), policy());
        let admissions = race(store, async move |store, _| {
            store.admit(&key, &policy, start()).await
        })
        .await;
        assert_eq!(admissions.len(), RACERS);
        assert_eq!(admitted(&admissions), 5);
    }

    /// O27, 14: a name that opens again opens to one.
    pub async fn one_of_32_attempts_is_admitted_after_a_wait(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        let (key, policy, end) = (ada(), policy(), start() + WAIT);
        let admissions = race(store, async move |store, _| store.admit(&key, &policy, end).await).await;
        assert_eq!(admitted(&admissions), 1);
    }

    /// O27, 14: half of the racers guess right, and a closed name tells nobody.
    pub async fn no_right_guess_passes_a_closed_name(store: &Arc<dyn AttemptStore>) {
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

    /// O27: half of the racers purge, and five guesses are made.
    pub async fn a_purge_forgives_nothing(store: &Arc<dyn AttemptStore>) {
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

    /// At the exact instant, counted.
    pub async fn purging_drops_forgotten_tallies_and_nothing_else(store: &Arc<dyn AttemptStore>) {
        let (end, eve) = (start() + WINDOW, AttemptKey::subject("eve"));
        assert_eq!(admit(store, eve, start()).await, Admission::Admitted);
        close(store, ada(), start() + NANOSECOND).await;
        assert_eq!(answer(store.purge_attempts(end - NANOSECOND).await), 0);
        assert_eq!(answer(store.purge_attempts(end).await), 1);
        assert_eq!(answer(store.purge_attempts(end).await), 0);
        // the wait is over, and not what led to it
        assert_eq!(admit(store, ada(), end).await, Admission::Admitted);
        assert_eq!(admit(store, ada(), end).await, refused(2 * WAIT));
    }

    /// O27, 14: nobody opens a name by trying others.
    pub async fn a_flood_of_names_opens_none_that_is_closed(store: &Arc<dyn AttemptStore>) {
        close(store, ada(), start()).await;
        for index in 0..FLOOD {
            let name = AttemptKey::subject(&index.to_string());
            assert_eq!(admit(store, name, start()).await, Admission::Admitted);
        }
        assert_eq!(standing(store, ada(), start()).await, refused(WAIT));
    }

    /// O27, 14: in a store full of names that are forgotten, however often they were tried, a flood costs no name its count.
    pub async fn what_is_forgotten_makes_room_before_what_counts(store: &Arc<dyn AttemptStore>) {
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
