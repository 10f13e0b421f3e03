//! What any [`ReplayStore`] must do.

/// The cases.
#[host_ports_conformance::kit(replay_store)]
mod cases {
    use std::sync::Arc;

    use std::time::{Duration, SystemTime};

    use crate::records::race;
    use crate::records::{NANOSECOND, answer, hash, start};
    use host_ports_conformance::RACERS;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{ReplayStore, SpendOutcome};

    fn end() -> SystemTime {
        start() + Duration::from_secs(70)
    }

    async fn spend(store: &dyn ReplayStore, key: TokenHash, now: SystemTime) -> SpendOutcome {
        answer(store.insert_once(key, end(), now).await)
    }

    /// O6, 11: the second time is a replay, and so is each after it; another name is another.
    pub async fn a_name_is_spent_once(store: &Arc<dyn ReplayStore>) {
        let keys = [
            TokenHash::from_bytes([0; 32]),
            TokenHash::from_bytes([0xff; 32]),
            hash("'\0"),
            hash("a"),
        ];
        for key in keys {
            assert_eq!(spend(store, key, start()).await, SpendOutcome::Fresh, "{key}");
        }
        for key in keys.into_iter().chain(keys) {
            assert_eq!(spend(store, key, start()).await, SpendOutcome::Seen, "{key}");
        }
    }

    /// O6, 11: to the nanosecond, and then it is spent anew.
    pub async fn a_spent_name_is_forgotten_at_the_exact_instant(store: &Arc<dyn ReplayStore>) {
        let key = hash("a");
        assert_eq!(spend(store, key, start()).await, SpendOutcome::Fresh);
        assert_eq!(spend(store, key, end() - NANOSECOND).await, SpendOutcome::Seen);
        let again = end() + Duration::from_secs(1);
        let outcome = answer(store.insert_once(key, again, end()).await);
        assert_eq!(outcome, SpendOutcome::Fresh);
        assert_eq!(spend(store, key, again - NANOSECOND).await, SpendOutcome::Seen);
    }

    /// O6: whoever replays cannot keep a row alive, nor end it.
    pub async fn presenting_a_spent_name_prolongs_nothing(store: &Arc<dyn ReplayStore>) {
        let key = hash("a");
        assert_eq!(spend(store, key, start()).await, SpendOutcome::Fresh);
        for other in [end() + Duration::from_secs(60), start() + NANOSECOND] {
            let outcome = answer(store.insert_once(key, other, start()).await);
            assert_eq!(outcome, SpendOutcome::Seen);
        }
        assert_eq!(spend(store, key, end() - NANOSECOND).await, SpendOutcome::Seen);
        assert_eq!(spend(store, key, end()).await, SpendOutcome::Fresh);
    }

    /// A row that is over as it comes stands in nobody's way.
    pub async fn what_has_expired_already_is_remembered_by_nobody(store: &Arc<dyn ReplayStore>) {
        for _ in 0..2 {
            assert_eq!(spend(store, hash("a"), end()).await, SpendOutcome::Fresh);
        }
    }

    /// O6, 11: single use, whoever comes at once.
    pub async fn one_of_32_spenders_is_the_first(store: &Arc<dyn ReplayStore>) {
        let outcomes = race(store, async |store, _| {
            store.insert_once(hash("a"), end(), start()).await
        })
        .await;
        assert_eq!(firsts(&outcomes), 1);
        assert_eq!(spend(store, hash("a"), start()).await, SpendOutcome::Seen);
    }

    /// O6, 11: the row that is in the way is over, and one of them takes its place.
    pub async fn one_of_32_spenders_of_a_forgotten_name_is_the_first(store: &Arc<dyn ReplayStore>) {
        assert_eq!(spend(store, hash("a"), start()).await, SpendOutcome::Fresh);
        let again = end() + Duration::from_secs(60);
        let outcomes = race(store, async move |store, _| {
            store.insert_once(hash("a"), again, end()).await
        })
        .await;
        assert_eq!(firsts(&outcomes), 1);
    }

    /// O6, 11: half of the racers purge; neither what is alive nor what is over is spent twice.
    pub async fn a_purge_lets_nobody_spend_twice(store: &Arc<dyn ReplayStore>) {
        assert_eq!(spend(store, hash("over"), start()).await, SpendOutcome::Fresh);
        let again = end() + Duration::from_secs(60);
        let outcomes = race(store, async move |store, index| {
            if index % 2 == 0 {
                store.purge_replays(end()).await?;
                return Ok(SpendOutcome::Seen);
            }
            let key = if index % 4 == 1 { "over" } else { "new" };
            store.insert_once(hash(key), again, end()).await
        })
        .await;
        assert_eq!(outcomes.len(), RACERS);
        assert_eq!(firsts(&outcomes), 2);
    }

    /// At the exact instant, counted.
    pub async fn purging_drops_forgotten_names_and_nothing_else(store: &Arc<dyn ReplayStore>) {
        assert_eq!(spend(store, hash("early"), start()).await, SpendOutcome::Fresh);
        let late = answer(store.insert_once(hash("late"), end() + NANOSECOND, start()).await);
        assert_eq!(late, SpendOutcome::Fresh);
        assert_eq!(answer(store.purge_replays(end() - NANOSECOND).await), 0);
        assert_eq!(answer(store.purge_replays(end()).await), 1);
        assert_eq!(answer(store.purge_replays(end()).await), 0);
        assert_eq!(spend(store, hash("late"), end()).await, SpendOutcome::Seen);
        assert_eq!(
            spend(store, hash("early"), end() - NANOSECOND).await,
            SpendOutcome::Fresh
        );
    }

    /// O20, DP13: no number of other names makes room for a replay.
    pub async fn a_flood_of_names_forgets_none(store: &Arc<dyn ReplayStore>) {
        for number in 0..1000 {
            let key = hash(&number.to_string());
            assert_eq!(spend(store, key, start()).await, SpendOutcome::Fresh, "{number}");
        }
        for number in [0, 1, 500, 999] {
            let key = hash(&number.to_string());
            assert_eq!(spend(store, key, start()).await, SpendOutcome::Seen, "{number}");
        }
    }

    fn firsts(outcomes: &[SpendOutcome]) -> usize {
        let is_first = |outcome: &&SpendOutcome| **outcome == SpendOutcome::Fresh;
        outcomes.iter().filter(is_first).count()
    }
}

pub use cases::*;
