mod fixture;

pub use self::fixture::{End, TransactionalStore};

#[host_ports_conformance::kit(completes_in_transaction)]
mod cases {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use host_ports_conformance::race;
    use http::StatusCode;
    use http_conventions::idempotency::{AfterCrash, ClaimOutcome, Fenced};

    use super::TransactionalStore;
    use super::fixture::{Desk, End, LEASE, MOST_POLLS, Seen, claim, held, start, within};

    /// H23: a committed transaction contains its row and the response of its key.
    pub async fn committed_key_is_settled(store: &Arc<dyn TransactionalStore>) {
        let (claim, settlement) = held(1);
        assert_eq!(
            store.keys().claim(&claim, start()).await.unwrap(),
            ClaimOutcome::Claimed
        );
        let written = store.write(7, Some(&settlement), End::Commit).await.unwrap();
        assert!(matches!(written, Ok(Some(_))), "{written:?}");
        assert_eq!(store.rows().await.unwrap(), [7]);
        let again = store
            .keys()
            .claim(&super::fixture::claim(2), start())
            .await
            .unwrap();
        assert_eq!(again, ClaimOutcome::Settled(settlement.outcome));
    }

    /// H23: a transaction that rolls back leaves neither its row nor the response of its key.
    pub async fn rolled_back_key_is_in_flight(store: &Arc<dyn TransactionalStore>) {
        let (claim, settlement) = held(1);
        store.keys().claim(&claim, start()).await.unwrap();
        let written = store.write(7, Some(&settlement), End::RollBack).await.unwrap();
        assert!(matches!(written, Ok(None)), "{written:?}");
        assert_eq!(store.rows().await.unwrap(), [0; 0]);
        let again = store
            .keys()
            .claim(&super::fixture::claim(2), start())
            .await
            .unwrap();
        let lease_until = start() + LEASE;
        assert_eq!(again, ClaimOutcome::InFlight { lease_until });
    }

    /// H23: a holder whose key was taken over is fenced, and its row is rolled back.
    pub async fn late_transaction_is_rolled_back(store: &Arc<dyn TransactionalStore>) {
        let ((first, of_first), (second, of_second)) = (held(1), held(2));
        store.keys().claim(&first, start()).await.unwrap();
        let second = second.with_after_crash(AfterCrash::RunAgain);
        let taken_over = store.keys().claim(&second, start() + LEASE).await.unwrap();
        assert_eq!(taken_over, ClaimOutcome::Claimed);
        let late = store.write(1, Some(&of_first), End::Commit).await.unwrap();
        assert!(matches!(late, Err(Fenced)), "{late:?}");
        let written = store.write(2, Some(&of_second), End::Commit).await.unwrap();
        assert!(matches!(written, Ok(Some(_))), "{written:?}");
        let again = store.write(3, Some(&of_second), End::Commit).await.unwrap();
        assert!(matches!(again, Err(Fenced)), "settled once: {again:?}");
        assert_eq!(store.rows().await.unwrap(), [2]);
    }

    /// H23: if holders take over the key while others commit, one row is left: that of the stored
    /// response.
    pub async fn racing_holders_leave_one_row(store: &Arc<dyn TransactionalStore>) {
        let number = Arc::new(AtomicU32::new(0));
        let racers = Arc::new((Arc::clone(store), Arc::clone(&number)));
        let receipts = race(&racers, async |racers, _| {
            let (store, number) = &*racers;
            let holder = number.fetch_add(1, Ordering::SeqCst) + 1;
            let (claim, settlement) = held(u8::try_from(holder).unwrap());
            let claim = claim.with_after_crash(AfterCrash::RunAgain);
            // each lease has ended when the next holder claims
            let claimed = store
                .keys()
                .claim(&claim, start() + LEASE * holder)
                .await
                .unwrap();
            if claimed != ClaimOutcome::Claimed {
                return 0;
            }
            match store.write(holder, Some(&settlement), End::Commit).await.unwrap() {
                Ok(Some(_)) => holder,
                Ok(None) | Err(Fenced) => 0,
            }
        })
        .await;
        let settled: Vec<_> = receipts.into_iter().filter(|row| *row > 0).collect();
        assert_eq!(settled.len(), 1, "{settled:?}");
        assert_eq!(store.rows().await.unwrap(), settled);
        let outcome = store.keys().claim(&claim(99), start() + LEASE).await.unwrap();
        let (_, settlement) = held(u8::try_from(settled[0]).unwrap());
        assert_eq!(outcome, ClaimOutcome::Settled(settlement.outcome));
    }

    /// H23, X5: 32 concurrent equal requests leave one row.
    pub async fn equal_posts_leave_one_row(store: &Arc<dyn TransactionalStore>) {
        let desk = Arc::new(Desk::new(Arc::clone(store)));
        let seen = race(&desk, async |desk, _| desk.post(0).await).await;
        let made = seen.iter().filter(|seen| matches!(seen, Seen::Made(_))).count();
        assert_eq!(made, 1, "{seen:?}");
        let rows = store.rows().await.unwrap();
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(desk.post(0).await, Seen::Replayed(rows[0]));
    }

    /// H23: a request that is dropped at any poll leaves at most one row. After its lease a retry
    /// gets the response of this row, or creates the row.
    pub async fn retry_of_dropped_post_gets_a_response(store: &Arc<dyn TransactionalStore>) {
        let desk = Desk::new(Arc::clone(store));
        for polls in 0.. {
            assert!(
                polls < MOST_POLLS,
                "the request has not ended after {polls} polls"
            );
            let first = within(polls, desk.post(polls)).await;
            desk.clock.advance(LEASE);
            let second = desk.post(polls).await;
            let third = desk.post(polls).await;
            let rows = desk.rows_of(polls).await;
            assert_eq!(rows.len(), 1, "dropped after {polls}: {second:?}");
            let has_response = [Seen::Made(rows[0]), Seen::Replayed(rows[0])].contains(&second);
            assert!(has_response, "dropped after {polls}: {second:?}");
            assert_eq!(third, Seen::Replayed(rows[0]), "dropped after {polls}");
            if let Some(first) = first {
                assert_eq!(first, Seen::Made(rows[0]));
                assert!(
                    polls > 4,
                    "only {polls} polls: the request was dropped at too few places"
                );
                return;
            }
        }
    }

    /// H23: if a handler loses the result of its commit, the client gets the response of the
    /// committed row. Without a commit the client gets the problem of the handler and a free key.
    pub async fn lost_commit_result_is_recovered(store: &Arc<dyn TransactionalStore>) {
        let desk = Desk::new(Arc::clone(store));
        let committed = desk.post_with_lost_result(1, End::Commit).await;
        let rows = desk.rows_of(1).await;
        assert_eq!((rows.len(), committed), (1, Seen::Replayed(rows[0])));

        let lost = desk.post_with_lost_result(2, End::RollBack).await;
        assert_eq!(lost, Seen::Other(StatusCode::INTERNAL_SERVER_ERROR));
        let made = desk.post(2).await;
        let rows = desk.rows_of(2).await;
        assert_eq!((rows.len(), made), (1, Seen::Made(rows[0])));
    }
}

pub use cases::*;
