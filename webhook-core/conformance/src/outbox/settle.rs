//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for settlements.

/// Test cases.
#[host_ports_conformance::kit(outbox_settle)]
mod cases {
    use bytes::Bytes;
    use http::StatusCode;
    use std::sync::Arc;

    use crate::outbox::answered;
    use crate::outbox::{
        TICK, at, delivery_id, enqueue, lease_due, lease_one, load, next_due, settle, settlement,
    };
    use host_ports_conformance::race;
    use webhook_core::sender::{
        Attempt, AttemptResult, DeliveryState, Disposition, FailureReason, Leased, Outbox, Settled,
        Settlement,
    };

    /// W11: each disposition leads to its state, with its due time and reason.
    pub async fn an_outcome_is_written_by_its_fence(store: &Arc<dyn Outbox>) {
        let waiting = (DeliveryState::RetryScheduled, None);
        let rejected = Some(FailureReason::Rejected);
        let exhausted = Some(FailureReason::AttemptsExhausted);
        let cases = [
            ("evt_0", Disposition::Acked, (DeliveryState::Acked, None), 1),
            ("evt_1", Disposition::Retry { due_at: at(60) }, waiting, 1),
            ("evt_2", Disposition::Held { due_at: at(60) }, waiting, 0),
            (
                "evt_3",
                Disposition::Failed(FailureReason::Rejected),
                (DeliveryState::PermanentFailure, rejected),
                1,
            ),
            (
                "evt_4",
                Disposition::Failed(FailureReason::AttemptsExhausted),
                (DeliveryState::DeadLetter, exhausted),
                1,
            ),
        ];
        for (event, disposition, (state, reason), attempts) in cases {
            enqueue(store, event, &["ep_1"]).await;
            let leased = lease_one(store, at(0)).await;
            assert_eq!(
                settle(store, settlement(&leased, disposition)).await,
                Settled::Applied
            );
            let stored = load(store, &leased.delivery.id).await.expect("it is kept");
            assert_eq!(
                (stored.state, stored.reason, stored.attempts),
                (state, reason, attempts),
                "{disposition:?}"
            );
            if state.is_live() {
                assert_eq!(stored.due_at, at(60));
            }
        }
        assert_eq!(lease_due(store, at(60)).await.len(), 2);
    }

    /// W15: a settlement of a lease that was taken over, or that was settled before, writes
    /// nothing.
    pub async fn a_lost_lease_writes_nothing(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let first = lease_one(store, at(0)).await;
        let second = lease_one(store, at(100)).await;
        for disposition in [
            Disposition::Retry { due_at: at(60) },
            Disposition::Held { due_at: at(60) },
            Disposition::Failed(FailureReason::Rejected),
        ] {
            assert_eq!(
                settle(store, settlement(&first, disposition)).await,
                Settled::Stale
            );
            assert_eq!(
                load(store, &first.delivery.id).await,
                Some(second.delivery.clone())
            );
        }
        let retry = settlement(&second, Disposition::Retry { due_at: at(200) });
        assert_eq!(settle(store, retry.clone()).await, Settled::Applied);
        assert_eq!(settle(store, retry).await, Settled::Stale);
        let stored = load(store, &second.delivery.id).await.expect("it is kept");
        assert_eq!((stored.attempts, stored.due_at), (1, at(200)));
    }

    /// W15: a 2xx after the end of the lease counts while the delivery is live, and changes nothing
    /// afterwards.
    pub async fn a_late_acknowledgement_settles_a_live_delivery(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let first = lease_one(store, at(0)).await;
        let second = lease_one(store, at(100)).await;
        assert_eq!(
            settle(store, settlement(&first, Disposition::Acked)).await,
            Settled::Late
        );
        let retry = settlement(&second, Disposition::Retry { due_at: at(60) });
        assert_eq!(settle(store, retry).await, Settled::Stale);
        let stored = load(store, &first.delivery.id).await.expect("it is kept");
        assert_eq!(stored.state, DeliveryState::Acked);
        assert!(lease_due(store, at(1_000)).await.is_empty());

        enqueue(store, "evt_2", &["ep_1"]).await;
        let first = lease_one(store, at(0)).await;
        let dead = settlement(&first, Disposition::Failed(FailureReason::AttemptsExhausted));
        settle(store, dead).await;
        assert_eq!(
            settle(store, settlement(&first, Disposition::Acked)).await,
            Settled::Stale
        );
    }

    /// W15: a settlement of an unknown delivery returns `Unknown` and stores nothing.
    pub async fn an_unknown_delivery_leaves_no_trace(store: &Arc<dyn Outbox>) {
        let id = delivery_id("evt_1", "ep_1");
        let unknown = Settlement {
            delivery: id.clone(),
            fence: 1,
            owner: None,
            disposition: Disposition::Acked,
            spent: true,
            hold_endpoint_until: Some(at(1_000)),
            rate: None,
            attempt: Some(Attempt {
                delivery: id.clone(),
                fence: 1,
                started_at: at(0),
                duration: TICK,
                result: AttemptResult::Answered {
                    status: StatusCode::OK,
                    body: Bytes::new(),
                },
            }),
        };
        assert_eq!(settle(store, unknown).await, Settled::Unknown);
        assert_eq!(load(store, &id).await, None);
        assert_eq!(store.attempts(&id).await.expect("the store works"), []);
        enqueue(store, "evt_1", &["ep_1"]).await;
        // the earlier settlement neither held the endpoint nor settled the delivery
        assert_eq!(lease_one(store, at(0)).await.delivery.fence, 1);
    }

    /// W15: a batch is one step and returns receipts in its order; an empty batch returns none.
    pub async fn a_batch_is_answered_in_its_order(store: &Arc<dyn Outbox>) {
        assert_eq!(store.settle(Vec::new()).await.expect("the store works"), []);
        enqueue(store, "evt_1", &["ep_1", "ep_2"]).await;
        let leased = lease_due(store, at(0)).await;
        let [first, second] = leased.as_slice() else {
            panic!("two are due")
        };
        let unknown = Settlement {
            delivery: delivery_id("evt_9", "ep_1"),
            ..settlement(first, Disposition::Acked)
        };
        let batch = vec![
            settlement(second, Disposition::Acked),
            unknown,
            settlement(first, Disposition::Retry { due_at: at(60) }),
            settlement(first, Disposition::Failed(FailureReason::Rejected)),
            settlement(first, Disposition::Acked),
        ];
        let receipts = store.settle(batch).await.expect("the store works");
        let settled: Vec<Settled> = receipts.into_iter().map(|receipt| receipt.settled).collect();
        let expected = [
            Settled::Applied,
            Settled::Unknown,
            Settled::Applied,
            Settled::Stale,
            Settled::Late,
        ];
        assert_eq!(settled, expected);
    }

    /// W15: of 32 concurrent settlements of one lease exactly one is applied.
    pub async fn of_32_simultaneous_settlements_one_is_applied(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        let settled = race(store, {
            let leased = leased.clone();
            async move |store, n| {
                let due_at = at(100 + n as u64);
                settle(&*store, settlement(&leased, Disposition::Retry { due_at })).await
            }
        })
        .await;
        assert_eq!(
            settled
                .iter()
                .filter(|settled| **settled == Settled::Applied)
                .count(),
            1
        );
        assert_eq!(
            settled
                .iter()
                .filter(|settled| **settled == Settled::Stale)
                .count(),
            31
        );
        let stored = load(store, &leased.delivery.id).await.expect("it is kept");
        let winner = settled
            .iter()
            .position(|settled| *settled == Settled::Applied)
            .expect("there is one");
        assert_eq!(
            (stored.attempts, Some(stored.due_at)),
            (1, (100..).map(at).nth(winner))
        );
    }

    fn holding(leased: &Leased, until: u64) -> Settlement {
        Settlement {
            hold_endpoint_until: Some(at(until)),
            ..settlement(leased, Disposition::Held { due_at: at(until) })
        }
    }

    /// W11: `Retry-After` holds all deliveries of its endpoint, and no delivery of other endpoints.
    pub async fn a_held_endpoint_is_skipped_until_the_exact_instant(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        enqueue(store, "evt_2", &["ep_1"]).await;
        settle(store, holding(&leased, 60)).await;
        enqueue(store, "evt_3", &["ep_1", "ep_2"]).await;
        let free = lease_one(store, at(60) - TICK).await;
        assert_eq!(free.delivery.id, delivery_id("evt_3", "ep_2"));
        settle(store, settlement(&free, Disposition::Acked)).await;
        assert_eq!(lease_due(store, at(60)).await.len(), 3);
    }

    /// W11: of several holds the longest counts, even if the settlement of a lost lease reports it.
    pub async fn a_hold_is_extended_and_never_shortened(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        enqueue(store, "evt_2", &["ep_1"]).await;
        let lost = lease_due(store, at(0)).await;
        let leased = lease_due(store, at(100)).await;
        let [first, second] = leased.as_slice() else {
            panic!("two are due")
        };
        settle(store, holding(first, 300)).await;
        settle(store, holding(second, 200)).await;
        assert_eq!(next_due(store).await, Some(at(300)));
        let late = lost.first().map(|lost| Settlement {
            attempt: Some(answered(lost, 429, "")),
            ..holding(lost, 400)
        });
        assert_eq!(settle(store, late.expect("one was leased")).await, Settled::Stale);
        assert!(lease_due(store, at(400) - TICK).await.is_empty());
        assert_eq!(lease_due(store, at(400)).await.len(), 2);
    }
}

pub use cases::*;
