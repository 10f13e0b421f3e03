//! Cases of interactions. An interaction lasts from the authorization request to the user's consent
//! or refusal.

/// The cases of interactions in `interaction_store!`.
#[host_ports_conformance::kit(interaction_store_interactions)]
mod cases {
    use std::sync::Arc;

    use host_ports_conformance::RACERS;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{Insertion, InteractionRecord, InteractionStore, TakeOutcome};

    use crate::interaction_store::{interaction, stored};
    use crate::records::{NANOSECOND, answer, hash, race, start};

    /// An interaction is read back with every field, repeatedly.
    pub async fn an_interaction_is_read_back_as_it_was_stored(store: &Arc<dyn InteractionStore>) {
        for key in [
            TokenHash::from_bytes([0; 32]),
            TokenHash::from_bytes([0xff; 32]),
            hash("'\0"),
        ] {
            let record = InteractionRecord {
                id: key,
                ..interaction("whole")
            };
            assert_eq!(
                answer(store.insert_interaction(record.clone()).await),
                Insertion::Inserted
            );
            assert_eq!(answer(store.interaction(&key).await), Some(record.clone()));
            assert_eq!(answer(store.interaction(&key).await), Some(record));
        }
    }

    /// An id that was never stored is absent.
    pub async fn an_unknown_interaction_is_absent(store: &Arc<dyn InteractionStore>) {
        assert_eq!(answer(store.interaction(&hash("nothing")).await), None);
        let taken = answer(
            store
                .take_interaction(&hash("nothing"), &hash("browser"), start())
                .await,
        );
        assert_eq!(taken, TakeOutcome::NotFound);
    }

    /// A second insert with the same id is refused, and the first record stays.
    pub async fn an_insert_never_overwrites_an_interaction(store: &Arc<dyn InteractionStore>) {
        let first = interaction("a");
        let second = InteractionRecord {
            browser: hash("thief"),
            ..first.clone()
        };
        assert_eq!(
            answer(store.insert_interaction(first.clone()).await),
            Insertion::Inserted
        );
        assert_eq!(answer(store.insert_interaction(second).await), Insertion::Exists);
        assert_eq!(answer(store.interaction(&first.id).await), Some(first));
    }

    /// An interaction is taken once: the second take finds nothing.
    pub async fn an_interaction_is_taken_once(store: &Arc<dyn InteractionStore>) {
        let record = stored(store, "a").await;
        let take = || store.take_interaction(&record.id, &record.browser, start());
        assert_eq!(answer(take().await), TakeOutcome::Taken(Box::new(record.clone())));
        assert_eq!(answer(take().await), TakeOutcome::NotFound);
        assert_eq!(answer(store.interaction(&record.id).await), None);
    }

    /// O24: a take with the cookie of another browser is refused and leaves the interaction.
    pub async fn other_browser_cannot_take_interaction(store: &Arc<dyn InteractionStore>) {
        let record = stored(store, "a").await;
        for now in [start(), record.expires_at] {
            let taken = answer(store.take_interaction(&record.id, &hash("thief"), now).await);
            assert_eq!(taken, TakeOutcome::NotFound);
        }
        let taken = answer(store.take_interaction(&record.id, &record.browser, start()).await);
        assert_eq!(taken, TakeOutcome::Taken(Box::new(record)));
    }

    /// A take succeeds one nanosecond before the expiry and fails at the expiry. The failed take
    /// leaves the row, because another server may have an earlier clock.
    pub async fn an_interaction_expires_at_the_exact_instant(store: &Arc<dyn InteractionStore>) {
        let record = stored(store, "a").await;
        let at = |now| store.take_interaction(&record.id, &record.browser, now);
        assert_eq!(answer(at(record.expires_at).await), TakeOutcome::Expired);
        assert_eq!(
            answer(at(record.expires_at - NANOSECOND).await),
            TakeOutcome::Taken(Box::new(record.clone()))
        );
    }

    /// One of 32 concurrent takes succeeds.
    pub async fn one_of_32_takes_succeeds(store: &Arc<dyn InteractionStore>) {
        let record = stored(store, "a").await;
        let outcomes = race(store, async move |store, _| {
            store.take_interaction(&record.id, &record.browser, start()).await
        })
        .await;
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| matches!(outcome, TakeOutcome::Taken(_)))
                .count(),
            1
        );
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| **outcome == TakeOutcome::NotFound)
                .count(),
            RACERS - 1
        );
    }

    /// One of 32 concurrent inserts is stored, and exactly its caller gets `Inserted`.
    pub async fn one_of_32_inserts_is_stored(store: &Arc<dyn InteractionStore>) {
        let record = |index: usize| InteractionRecord {
            browser: hash(&index.to_string()),
            ..interaction("a")
        };
        let outcomes = race(store, async move |store, index| {
            store.insert_interaction(record(index)).await
        })
        .await;
        let winners: Vec<_> = outcomes
            .into_iter()
            .enumerate()
            .filter(|(_, outcome)| *outcome == Insertion::Inserted)
            .collect();
        assert_eq!(winners.len(), 1);
        let kept = answer(store.interaction(&hash("a")).await).map(|kept| kept.browser);
        assert_eq!(kept, winners.first().map(|(index, _)| hash(&index.to_string())));
    }

    /// A purge drops rows at the exact instant of their expiry and counts them.
    pub async fn purge_drops_expired_interactions_only(store: &Arc<dyn InteractionStore>) {
        let early = stored(store, "early").await;
        let late = InteractionRecord {
            expires_at: early.expires_at + NANOSECOND,
            ..interaction("late")
        };
        assert_eq!(
            answer(store.insert_interaction(late.clone()).await),
            Insertion::Inserted
        );
        assert_eq!(
            answer(store.purge_interactions(early.expires_at - NANOSECOND).await),
            0
        );
        assert_eq!(answer(store.purge_interactions(early.expires_at).await), 1);
        assert_eq!(answer(store.interaction(&early.id).await), None);
        assert_eq!(answer(store.interaction(&late.id).await), Some(late));
    }
}

pub use cases::*;
