//! Thirty-two calls at once, on threads of their own.

#![expect(
    clippy::panic,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]

use bytes::Bytes;

use super::{
    super::race::{RACERS, race},
    LEASE, answer, claim, claim_by, complete, small_answer, start, taking_over,
};
use crate::idempotency::{ClaimOutcome, IdempotencyStore, Settled};

/// Of 32 claims at once one is granted, and all others wait.
pub async fn one_of_thirty_two_claims_wins(store: &dyn IdempotencyStore) {
    let outcomes = race(|holder| async move { claim(store, &taking_over(holder, start()), start()).await });
    expect_one_winner(
        &outcomes,
        &ClaimOutcome::InFlight {
            lease_until: start() + LEASE,
        },
    );
}

/// Of 32 that find the holder broken off, one takes over.
pub async fn one_of_thirty_two_takes_a_broken_off_key_over(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(0xFF, start()), start()).await;
    let end = start() + LEASE;
    let outcomes = race(|holder| async move { claim(store, &taking_over(holder, end), end).await });
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
    assert_eq!(count(others), usize::from(RACERS) - 1, "{outcomes:?}");
}

/// Of 32 completions under one fence the first stays.
pub async fn one_of_thirty_two_completions_wins(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    let status = |racer: u8| 200 + u16::from(racer);
    let settled = race(|racer| complete(store, 1, answer(status(racer), Bytes::new())));
    let winners: Vec<_> = (0..RACERS)
        .zip(settled)
        .filter(|(_, settled)| *settled == Settled::Done)
        .collect();
    let [(winner, _)] = winners[..] else {
        panic!("there must be one winner: {winners:?}")
    };
    let outcome = claim(store, &claim_by(2, start()), start()).await;
    assert_eq!(
        outcome,
        ClaimOutcome::Settled(answer(status(winner), Bytes::new()))
    );
}

/// Half complete as the late holder, half take over: whichever comes first, the other has lost.
pub async fn a_completion_races_a_takeover(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(0xFF, start()), start()).await;
    let end = start() + LEASE;
    let done = race(|racer| async move {
        match racer % 2 {
            0 => complete(store, 0xFF, small_answer()).await == Settled::Done,
            _ => claim(store, &taking_over(racer, end), end).await == ClaimOutcome::Claimed,
        }
    });
    assert_eq!(done.iter().filter(|done| **done).count(), 1, "{done:?}");
}
