mod fixture;

#[host_ports_conformance::kit(idempotency_store)]
mod cases {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use host_ports_conformance::{RACERS, race};
    use http_conventions::idempotency::{
        ClaimOutcome, IdempotencyStore, RequestOutcome, Settled, StoredResponse,
    };

    use super::fixture::{
        LEASE, LIFETIME, claim, claim_by, complete, fence, holder, key, of_other_request, response,
        small_response, start, taking_over, with_key,
    };

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// A key without a record is claimed.
    pub async fn unused_key_is_claimed(store: &Arc<dyn IdempotencyStore>) {
        assert_eq!(
            claim(&**store, &claim_by(1, start()), start()).await,
            ClaimOutcome::Claimed
        );
    }

    /// A second claim of the same request returns `InFlight` with the end of the first claim's
    /// lease.
    pub async fn held_key_is_in_flight(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        let later = start() + Duration::from_secs(1);
        let outcome = claim(&**store, &taking_over(2, later), later).await;
        assert_eq!(
            outcome,
            ClaimOutcome::InFlight {
                lease_until: start() + LEASE
            }
        );
    }

    /// A completed response is returned with its status, header lines in order, and body, byte for
    /// byte.
    pub async fn completed_response_is_returned_whole(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        assert_eq!(complete(&**store, 1, small_response()).await, Settled::Done);
        for _ in 0..2 {
            let outcome = claim(&**store, &claim_by(2, start()), start()).await;
            // compared field by field, because `Debug` of a response hides its content
            if let (ClaimOutcome::Settled(RequestOutcome::Completed(back)), RequestOutcome::Completed(kept)) =
                (&outcome, small_response())
            {
                assert_eq!(back.status, kept.status);
                assert_eq!(back.headers, kept.headers);
                assert_eq!(back.body, kept.body);
            }
            assert_eq!(outcome, ClaimOutcome::Settled(small_response()));
        }
    }

    /// Outcomes without a response are stored too.
    pub async fn outcome_without_response_is_returned(store: &Arc<dyn IdempotencyStore>) {
        for (name, outcome) in [
            (1, RequestOutcome::Unreplayable { status: 201 }),
            (2, RequestOutcome::Indeterminate),
        ] {
            let held = with_key(name, claim_by(1, start()));
            claim(&**store, &held, start()).await;
            store
                .complete(&held.key, &held.fence, outcome.clone(), start() + LIFETIME)
                .await
                .unwrap();
            assert_eq!(
                claim(&**store, &held, start()).await,
                ClaimOutcome::Settled(outcome)
            );
        }
    }

    /// A claim of a different request with the same key returns `Mismatched` in every state, even
    /// after the lease has expired.
    pub async fn different_request_is_mismatched(store: &Arc<dyn IdempotencyStore>) {
        let other = of_other_request(taking_over(2, start()));
        claim(&**store, &claim_by(1, start()), start()).await;
        assert_eq!(claim(&**store, &other, start()).await, ClaimOutcome::Mismatched);
        assert_eq!(
            claim(&**store, &other, start() + LEASE).await,
            ClaimOutcome::Mismatched
        );
        complete(&**store, 1, small_response()).await;
        assert_eq!(claim(&**store, &other, start()).await, ClaimOutcome::Mismatched);
    }

    /// After a release any request may claim the key, even a different one.
    pub async fn released_key_is_claimable(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Done);
        assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
        let other = of_other_request(claim_by(2, start()));
        assert_eq!(claim(&**store, &other, start()).await, ClaimOutcome::Claimed);
    }

    /// A lease is in force before `lease_until`, and has expired at `lease_until`.
    pub async fn lease_ends_at_its_exact_instant(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        let (end, holder) = (start() + LEASE, taking_over(2, start() + LEASE));
        let before = claim(&**store, &holder, end - MILLISECOND).await;
        assert_eq!(before, ClaimOutcome::InFlight { lease_until: end });
        assert_eq!(claim(&**store, &holder, end).await, ClaimOutcome::Claimed);
        let after = claim(&**store, &taking_over(3, end), end).await;
        assert_eq!(
            after,
            ClaimOutcome::InFlight {
                lease_until: end + LEASE
            }
        );
    }

    /// Without `AfterCrash::RunAgain` every claim after the lease returns the indeterminate
    /// outcome.
    pub async fn expired_lease_is_indeterminate_by_default(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        let end = start() + LEASE;
        for _ in 0..2 {
            let outcome = claim(&**store, &claim_by(2, end), end).await;
            assert_eq!(outcome, ClaimOutcome::Settled(RequestOutcome::Indeterminate));
        }
        assert_eq!(
            claim(&**store, &taking_over(3, end), end).await,
            ClaimOutcome::Claimed
        );
    }

    /// A record whose lease has expired exists before `expires_at`, and is absent at `expires_at`.
    pub async fn record_expires_at_its_exact_instant(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        let end = start() + LEASE + LIFETIME;
        let before = claim(&**store, &claim_by(2, end), end - MILLISECOND).await;
        assert_eq!(before, ClaimOutcome::Settled(RequestOutcome::Indeterminate));
        let other = of_other_request(claim_by(2, end));
        assert_eq!(claim(&**store, &other, end).await, ClaimOutcome::Claimed);
    }

    /// Completion sets a new `expires_at`. At and after that time, a claim replaces the record.
    pub async fn completion_sets_a_new_expiry(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        let end = start() + LIFETIME * 3;
        store
            .complete(&key(1), &fence(1), small_response(), end)
            .await
            .unwrap();
        let before = claim(&**store, &claim_by(2, end), end - MILLISECOND).await;
        assert_eq!(before, ClaimOutcome::Settled(small_response()));
        assert_eq!(
            claim(&**store, &claim_by(2, end), end).await,
            ClaimOutcome::Claimed
        );
        assert_eq!(
            claim(&**store, &claim_by(3, end), end).await,
            ClaimOutcome::InFlight {
                lease_until: end + LEASE
            }
        );
        assert_eq!(
            complete(&**store, 1, RequestOutcome::Indeterminate).await,
            Settled::Fenced
        );
    }

    /// After a takeover, the first holder can neither complete nor release.
    pub async fn fenced_holder_changes_nothing(store: &Arc<dyn IdempotencyStore>) {
        let end = start() + LEASE;
        claim(&**store, &claim_by(1, start()), start()).await;
        claim(&**store, &taking_over(2, end), end).await;
        assert_eq!(
            complete(&**store, 1, RequestOutcome::Indeterminate).await,
            Settled::Fenced
        );
        assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
        let waiting = claim(&**store, &taking_over(3, end), end).await;
        assert_eq!(
            waiting,
            ClaimOutcome::InFlight {
                lease_until: end + LEASE
            }
        );
        assert_eq!(complete(&**store, 2, small_response()).await, Settled::Done);
    }

    /// A holder whose lease has expired completes its record if no other request has claimed the
    /// key.
    pub async fn late_holder_settles_before_a_takeover(store: &Arc<dyn IdempotencyStore>) {
        let end = start() + LEASE;
        claim(&**store, &claim_by(1, start()), start()).await;
        claim(&**store, &claim_by(2, end), end).await;
        assert_eq!(complete(&**store, 1, small_response()).await, Settled::Done);
        assert_eq!(
            claim(&**store, &claim_by(2, end), end).await,
            ClaimOutcome::Settled(small_response())
        );
    }

    /// A settled record does not change.
    pub async fn record_settles_once(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        complete(&**store, 1, small_response()).await;
        assert_eq!(
            complete(&**store, 1, RequestOutcome::Indeterminate).await,
            Settled::Fenced
        );
        assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
        assert_eq!(
            claim(&**store, &claim_by(2, start()), start()).await,
            ClaimOutcome::Settled(small_response())
        );
    }

    /// Settling a key without a record writes nothing.
    pub async fn unknown_key_cannot_be_settled(store: &Arc<dyn IdempotencyStore>) {
        assert_eq!(complete(&**store, 1, small_response()).await, Settled::Fenced);
        assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
        assert_eq!(
            claim(&**store, &claim_by(1, start()), start()).await,
            ClaimOutcome::Claimed
        );
    }

    /// Each key has its own record. The keys consist of the byte 0x00 or 0xFF, line feeds, quotes
    /// or percent signs.
    pub async fn keys_are_independent(store: &Arc<dyn IdempotencyStore>) {
        let names = [0, 0xFF, b'\n', b'\'', b'%'];
        for name in names {
            let held = with_key(name, claim_by(name, start()));
            assert_eq!(claim(&**store, &held, start()).await, ClaimOutcome::Claimed);
        }
        for name in names {
            let body = Bytes::copy_from_slice(&[name, 0, name]);
            let (held, outcome) = (with_key(name, claim_by(1, start())), response(200, body));
            let settled = store
                .complete(&held.key, &fence(name), outcome.clone(), start() + LIFETIME)
                .await
                .unwrap();
            assert_eq!(settled, Settled::Done);
            assert_eq!(
                claim(&**store, &held, start()).await,
                ClaimOutcome::Settled(outcome)
            );
        }
    }

    /// An empty body, a body of 4 MiB, and 500 header lines are returned unchanged.
    pub async fn empty_and_large_responses_are_returned_whole(store: &Arc<dyn IdempotencyStore>) {
        let lines = |count: usize| {
            (0..count)
                .map(|line| (format!("x-line-{line}"), Bytes::from(vec![b'v'; 200])))
                .collect()
        };
        let bodies = [Bytes::new(), Bytes::from_iter((0..=250_u8).cycle().take(4 << 20))];
        for (name, (headers, body)) in (1..).zip([lines(0), lines(500)].into_iter().zip(bodies)) {
            let outcome = RequestOutcome::Completed(StoredResponse {
                status: 200,
                headers,
                body,
            });
            let held = with_key(name, claim_by(1, start()));
            claim(&**store, &held, start()).await;
            store
                .complete(&held.key, &held.fence, outcome.clone(), start() + LIFETIME)
                .await
                .unwrap();
            assert_eq!(
                claim(&**store, &held, start()).await,
                ClaimOutcome::Settled(outcome)
            );
        }
    }

    /// H6: one of 32 concurrent claims is granted; the others are in flight.
    pub async fn one_of_32_claims_wins(store: &Arc<dyn IdempotencyStore>) {
        let outcomes = race(store, async |store, racer| {
            claim(&*store, &taking_over(holder(racer), start()), start()).await
        })
        .await;
        expect_one_winner(
            &outcomes,
            &ClaimOutcome::InFlight {
                lease_until: start() + LEASE,
            },
        );
    }

    /// Exactly one of 32 concurrent claims takes over an expired lease.
    pub async fn one_of_32_takeovers_wins(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(0xFF, start()), start()).await;
        let end = start() + LEASE;
        let outcomes = race(store, async move |store, racer| {
            claim(&*store, &taking_over(holder(racer), end), end).await
        })
        .await;
        expect_one_winner(
            &outcomes,
            &ClaimOutcome::InFlight {
                lease_until: end + LEASE,
            },
        );
    }

    fn expect_one_winner(outcomes: &[ClaimOutcome], others: &ClaimOutcome) {
        let count = |wanted: &ClaimOutcome| outcomes.iter().filter(|outcome| *outcome == wanted).count();
        assert_eq!(count(&ClaimOutcome::Claimed), 1, "{outcomes:?}");
        assert_eq!(count(others), RACERS - 1, "{outcomes:?}");
    }

    /// Exactly one of 32 concurrent completions with the same fencing token is stored.
    pub async fn one_of_32_completions_wins(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(1, start()), start()).await;
        let status = |racer: usize| 200 + u16::from(holder(racer));
        let settled = race(store, async move |store, racer| {
            complete(&*store, 1, response(status(racer), Bytes::new())).await
        })
        .await;
        let winners: Vec<_> = (0..RACERS)
            .zip(settled)
            .filter(|(_, settled)| *settled == Settled::Done)
            .collect();
        let [(winner, _)] = winners[..] else {
            panic!("there must be one winner: {winners:?}")
        };
        let outcome = claim(&**store, &claim_by(2, start()), start()).await;
        assert_eq!(
            outcome,
            ClaimOutcome::Settled(response(status(winner), Bytes::new()))
        );
    }

    /// The holder of an expired lease completes 16 times while 16 other requests claim the key:
    /// exactly one of the 32 concurrent calls succeeds.
    pub async fn completion_and_takeover_exclude_each_other(store: &Arc<dyn IdempotencyStore>) {
        claim(&**store, &claim_by(0xFF, start()), start()).await;
        let end = start() + LEASE;
        let done = race(store, async move |store, racer| match racer % 2 {
            0 => complete(&*store, 0xFF, small_response()).await == Settled::Done,
            _ => claim(&*store, &taking_over(holder(racer), end), end).await == ClaimOutcome::Claimed,
        })
        .await;
        assert_eq!(done.iter().filter(|done| **done).count(), 1, "{done:?}");
    }
}

pub use cases::*;
