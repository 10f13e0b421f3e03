//! Cases of pushed authorization requests. Each can be used for one completed sign-in.

/// The cases of pushed requests in `interaction_store!`.
#[host_ports_conformance::kit(interaction_store_pushed)]
mod cases {
    use std::sync::Arc;

    use crate::interaction_store::{interaction, request};
    use crate::records::race;
    use crate::records::{NANOSECOND, answer, hash, start};
    use host_ports_conformance::RACERS;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{
        Insertion, InteractionRecord, InteractionStore, PushedRequestRecord, TakeOutcome,
    };

    /// A pushed request is read back with every field, repeatedly; an unknown one is absent.
    pub async fn a_pushed_request_is_read_back_as_it_was_stored(store: &Arc<dyn InteractionStore>) {
        for key in [TokenHash::from_bytes([0; 32]), hash("'\0")] {
            assert_eq!(answer(store.pushed(&key).await), None);
            let record = PushedRequestRecord::new(key, request(), start());
            assert_eq!(
                answer(store.insert_pushed(record.clone()).await),
                Insertion::Inserted
            );
            assert_eq!(answer(store.pushed(&key).await), Some(record.clone()));
            assert_eq!(answer(store.pushed(&key).await), Some(record));
        }
    }

    /// A second insert with the same hash is refused, and the first record stays.
    pub async fn an_insert_never_overwrites_a_pushed_request(store: &Arc<dyn InteractionStore>) {
        let first = pushed(store, "p").await;
        let second = PushedRequestRecord {
            completed: true,
            ..first.clone()
        };
        assert_eq!(answer(store.insert_pushed(second).await), Insertion::Exists);
        assert_eq!(answer(store.pushed(&first.hash).await), Some(first));
    }

    /// O23: starting a sign-in leaves the pushed request unused. The first completed sign-in uses
    /// it, and all others are refused.
    pub async fn first_answer_spends_pushed_request(store: &Arc<dyn InteractionStore>) {
        let request = pushed(store, "p").await;
        let first = begun(store, "a", &request).await;
        let second = begun(store, "b", &request).await;
        assert_eq!(
            answer(store.pushed(&request.hash).await).map(|found| found.completed),
            Some(false)
        );
        assert_eq!(take(store, &first).await, TakeOutcome::Taken(Box::new(first)));
        let spent = PushedRequestRecord {
            completed: true,
            ..request
        };
        assert_eq!(answer(store.pushed(&spent.hash).await), Some(spent.clone()));
        assert_eq!(take(store, &second).await, TakeOutcome::RequestSpent);
        assert_eq!(
            answer(store.interaction(&second.id).await),
            Some(second),
            "unchanged"
        );
        let third = begun(store, "c", &spent).await;
        assert_eq!(take(store, &third).await, TakeOutcome::RequestSpent);
    }

    /// An interaction whose pushed request is not stored is refused, because the request may have
    /// been used.
    pub async fn an_interaction_is_not_taken_without_its_pushed_request(store: &Arc<dyn InteractionStore>) {
        let never_stored = PushedRequestRecord::new(hash("p"), request(), start());
        let interaction = begun(store, "a", &never_stored).await;
        assert_eq!(take(store, &interaction).await, TakeOutcome::RequestSpent);
        assert_eq!(
            answer(store.interaction(&interaction.id).await),
            Some(interaction)
        );
    }

    /// A take by another browser, a late take, and takes of unrelated interactions leave the pushed
    /// request unused.
    pub async fn failed_take_leaves_pushed_request_unspent(store: &Arc<dyn InteractionStore>) {
        let (request, other) = (pushed(store, "p").await, pushed(store, "other").await);
        let record = begun(store, "a", &request).await;
        for (browser, now, refused) in [
            (hash("thief"), start(), TakeOutcome::NotFound),
            (record.browser, record.expires_at, TakeOutcome::Expired),
        ] {
            let taken = answer(store.take_interaction(&record.id, &browser, now).await);
            assert_eq!(taken, refused);
        }
        let plain = interaction("plain");
        assert_eq!(
            answer(store.insert_interaction(plain.clone()).await),
            Insertion::Inserted
        );
        let unrelated = begun(store, "b", &other).await;
        for record in [plain, unrelated] {
            assert_eq!(take(store, &record).await, TakeOutcome::Taken(Box::new(record)));
        }
        assert_eq!(answer(store.pushed(&request.hash).await), Some(request));
        assert_eq!(take(store, &record).await, TakeOutcome::Taken(Box::new(record)));
    }

    /// O23: of 32 concurrent sign-ins with one pushed request, one is completed.
    pub async fn one_of_32_answers_uses_pushed_request(store: &Arc<dyn InteractionStore>) {
        let request = pushed(store, "p").await;
        let mut records = Vec::new();
        for index in 0..RACERS {
            records.push(begun(store, &index.to_string(), &request).await);
        }
        let outcomes = race(store, async move |store, index| match records.get(index) {
            Some(record) => store.take_interaction(&record.id, &record.browser, start()).await,
            None => Ok(TakeOutcome::NotFound),
        })
        .await;
        let taken = |outcome: &&TakeOutcome| matches!(outcome, TakeOutcome::Taken(_));
        assert_eq!(outcomes.iter().filter(taken).count(), 1);
        let spent = |outcome: &&TakeOutcome| **outcome == TakeOutcome::RequestSpent;
        assert_eq!(outcomes.iter().filter(spent).count(), RACERS - 1);
    }

    /// One of 32 concurrent pushes with the same hash is stored, and exactly its caller gets
    /// `Inserted`.
    pub async fn one_of_32_pushes_is_stored(store: &Arc<dyn InteractionStore>) {
        let record = |index: usize| {
            let mut record = PushedRequestRecord::new(hash("p"), request(), start());
            record.request.login_hint = Some(index.to_string());
            record
        };
        let outcomes = race(store, async move |store, index| {
            store.insert_pushed(record(index)).await
        })
        .await;
        let winners: Vec<_> = outcomes
            .into_iter()
            .enumerate()
            .filter(|(_, outcome)| *outcome == Insertion::Inserted)
            .collect();
        assert_eq!(winners.len(), 1);
        let kept = answer(store.pushed(&hash("p")).await).and_then(|kept| kept.request.login_hint);
        assert_eq!(kept, winners.first().map(|(index, _)| index.to_string()));
    }

    /// A purge keeps an expired pushed request until `retain_until`. It then drops and counts the
    /// request.
    pub async fn pushed_request_is_purged_after_retention(store: &Arc<dyn InteractionStore>) {
        let record = pushed(store, "p").await;
        assert!(record.expires_at < record.retain_until);
        for now in [record.expires_at, record.retain_until - NANOSECOND] {
            assert_eq!(answer(store.purge_interactions(now).await), 0);
        }
        assert_eq!(answer(store.pushed(&record.hash).await), Some(record.clone()));
        assert_eq!(answer(store.purge_interactions(record.retain_until).await), 1);
        assert_eq!(answer(store.pushed(&record.hash).await), None);
    }

    async fn pushed(store: &dyn InteractionStore, label: &str) -> PushedRequestRecord {
        let record = PushedRequestRecord::new(hash(label), request(), start());
        assert_eq!(
            answer(store.insert_pushed(record.clone()).await),
            Insertion::Inserted
        );
        record
    }

    /// Stores an interaction of `request`.
    async fn begun(
        store: &dyn InteractionStore,
        label: &str,
        request: &PushedRequestRecord,
    ) -> InteractionRecord {
        let record = InteractionRecord {
            pushed: Some(request.hash),
            ..interaction(label)
        };
        assert_eq!(
            answer(store.insert_interaction(record.clone()).await),
            Insertion::Inserted
        );
        record
    }

    async fn take(store: &dyn InteractionStore, record: &InteractionRecord) -> TakeOutcome {
        answer(store.take_interaction(&record.id, &record.browser, start()).await)
    }
}

pub use cases::*;
