//! Conformance kit for [`ReplayStore`](oauth_core::store::ReplayStore).
//!
//! `replay_store!(#[tokio::test] expression)` expands to one test per case; `expression` makes an
//! empty store.
//!
//! A *name* is the hash of a value that may be used once, for example a `jti`.

/// The cases of `replay_store!`.
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

    /// O6, 11: the first use of a name is fresh, each later one is a replay; other names are not
    /// affected.
    pub async fn name_is_accepted_once(store: &Arc<dyn ReplayStore>) {
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

    /// O6, 11: a name is forgotten at the exact nanosecond of its expiry, and can then be used
    /// again.
    pub async fn replay_record_expires_at_exact_instant(store: &Arc<dyn ReplayStore>) {
        let key = hash("a");
        assert_eq!(spend(store, key, start()).await, SpendOutcome::Fresh);
        assert_eq!(spend(store, key, end() - NANOSECOND).await, SpendOutcome::Seen);
        let again = end() + Duration::from_secs(1);
        let outcome = answer(store.insert_once(key, again, end()).await);
        assert_eq!(outcome, SpendOutcome::Fresh);
        assert_eq!(spend(store, key, again - NANOSECOND).await, SpendOutcome::Seen);
    }

    /// O6: a replay neither extends nor shortens the life of its record.
    pub async fn replay_does_not_extend_record(store: &Arc<dyn ReplayStore>) {
        let key = hash("a");
        assert_eq!(spend(store, key, start()).await, SpendOutcome::Fresh);
        for other in [end() + Duration::from_secs(60), start() + NANOSECOND] {
            let outcome = answer(store.insert_once(key, other, start()).await);
            assert_eq!(outcome, SpendOutcome::Seen);
        }
        assert_eq!(spend(store, key, end() - NANOSECOND).await, SpendOutcome::Seen);
        assert_eq!(spend(store, key, end()).await, SpendOutcome::Fresh);
    }

    /// A record that is expired at its insert is not remembered.
    pub async fn expired_record_is_not_remembered(store: &Arc<dyn ReplayStore>) {
        for _ in 0..2 {
            assert_eq!(spend(store, hash("a"), end()).await, SpendOutcome::Fresh);
        }
    }

    /// O6, 11: one of 32 concurrent uses of a name is fresh.
    pub async fn one_of_32_uses_is_fresh(store: &Arc<dyn ReplayStore>) {
        let outcomes = race(store, async |store, _| {
            store.insert_once(hash("a"), end(), start()).await
        })
        .await;
        assert_eq!(firsts(&outcomes), 1);
        assert_eq!(spend(store, hash("a"), start()).await, SpendOutcome::Seen);
    }

    /// O6, 11: one of 32 concurrent uses of an expired name is fresh.
    pub async fn one_of_32_uses_of_expired_name_is_fresh(store: &Arc<dyn ReplayStore>) {
        assert_eq!(spend(store, hash("a"), start()).await, SpendOutcome::Fresh);
        let again = end() + Duration::from_secs(60);
        let outcomes = race(store, async move |store, _| {
            store.insert_once(hash("a"), again, end()).await
        })
        .await;
        assert_eq!(firsts(&outcomes), 1);
    }

    /// O6, 11: during 16 concurrent purges, a new name and an expired name are each fresh once.
    pub async fn purge_never_allows_second_use(store: &Arc<dyn ReplayStore>) {
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

    /// A purge drops records at the exact instant of their expiry and counts them.
    pub async fn purge_drops_expired_names_only(store: &Arc<dyn ReplayStore>) {
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

    /// O20, DP13: a record is not evicted by 1,000 other names.
    pub async fn flood_of_names_evicts_none(store: &Arc<dyn ReplayStore>) {
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
