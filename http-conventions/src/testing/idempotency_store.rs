//! What every [`IdempotencyStore`] must do, as test cases.
//!
//! ```
//! mod conformance {
//!     use http_conventions::idempotency::MemoryIdempotencyStore;
//!
//!     http_conventions::testing::idempotency_store!(#[tokio::test] MemoryIdempotencyStore::default());
//! }
//! ```
//!
//! The expression makes a fresh store for each test, inside an `async fn`. Races run on threads of their own and block the
//! calling one: a store that needs the runtime's help to answer wants a multi-threaded runtime.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::race::{RACERS, race};
use crate::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, Outcome, RecordKey, Settled,
    StoredResponse,
};

const MILLISECOND: Duration = Duration::from_millis(1);
const LEASE: Duration = Duration::from_secs(60);
const LIFETIME: Duration = Duration::from_secs(86_400);
const REQUEST: Fingerprint = Fingerprint::from_bytes([0xA5; 32]);
const OTHER_REQUEST: Fingerprint = Fingerprint::from_bytes([0x5A; 32]);

/// One named test for each case, for the store that the expression makes.
#[doc(hidden)]
#[macro_export]
macro_rules! __idempotency_store {
    ($(#[$test:meta])+ $store:expr) => {
        $crate::__idempotency_store! { @cases [$(#[$test])+] $store =>
            an_unused_key_is_claimed
            a_held_key_is_in_flight
            a_completed_answer_comes_back_whole
            an_outcome_without_an_answer_comes_back
            a_different_request_is_mismatched
            a_released_key_is_unused_again
            a_lease_ends_at_its_exact_instant
            a_broken_off_request_is_not_run_again_unless_asked
            a_record_is_gone_at_its_exact_instant
            a_settled_record_lives_until_its_new_expiry
            a_holder_that_lost_its_key_changes_nothing
            a_late_holder_may_still_settle
            a_record_is_settled_once
            an_unknown_key_cannot_be_settled
            keys_do_not_touch_each_other
            empty_and_large_answers_come_back_whole
            one_of_thirty_two_claims_wins
            one_of_thirty_two_takes_a_broken_off_key_over
            one_of_thirty_two_completions_wins
            a_completion_races_a_takeover
        }
    };
    (@cases $tests:tt $store:expr => $($case:ident)+) => {
        $($crate::__idempotency_store! { @case $tests $store => $case })+
    };
    (@case [$($test:tt)+] $store:expr => $case:ident) => {
        $($test)+
        async fn $case() {
            let store = $store;
            $crate::testing::idempotency_store::$case(&store).await;
        }
    };
}

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key(name: u8) -> RecordKey {
    RecordKey::from_bytes([name; 32])
}

fn fence(name: u8) -> Fence {
    Fence::from_bytes([name; 16])
}

/// A claim of key 1 by this holder, made at this time.
fn claim_by(holder: u8, now: SystemTime) -> Claim {
    Claim::new(
        key(1),
        REQUEST,
        fence(holder),
        now + LEASE,
        now + LEASE + LIFETIME,
    )
}

fn taking_over(holder: u8, now: SystemTime) -> Claim {
    claim_by(holder, now).with_after_crash(AfterCrash::RunAgain)
}

fn answer(status: u16, body: Bytes) -> Outcome {
    let headers = vec![
        ("content-type".to_owned(), Bytes::from_static(b"application/json")),
        ("link".to_owned(), Bytes::from_static(b"</a>; rel=\"a\"")),
        ("link".to_owned(), Bytes::from_static(b"</b>; rel=\"b\"")),
        ("x-bytes".to_owned(), Bytes::from_static(b"caf\xe9 \xff")),
        ("x-empty".to_owned(), Bytes::new()),
    ];
    Outcome::Completed(StoredResponse {
        status,
        headers,
        body,
    })
}

fn small_answer() -> Outcome {
    answer(201, Bytes::from_static(b"{\"id\":\"ch_1\"}"))
}

async fn claim(store: &dyn IdempotencyStore, claim: &Claim, now: SystemTime) -> ClaimOutcome {
    store.claim(claim, now).await.unwrap()
}

async fn complete(store: &dyn IdempotencyStore, holder: u8, outcome: Outcome) -> Settled {
    store
        .complete(&key(1), &fence(holder), outcome, start() + LIFETIME)
        .await
        .unwrap()
}

/// A key nobody used is claimed.
pub async fn an_unused_key_is_claimed(store: &dyn IdempotencyStore) {
    assert_eq!(
        claim(store, &claim_by(1, start()), start()).await,
        ClaimOutcome::Claimed
    );
}

/// A second claim of the same request waits, and hears how long at most.
pub async fn a_held_key_is_in_flight(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    let later = start() + Duration::from_secs(1);
    let outcome = claim(store, &taking_over(2, later), later).await;
    assert_eq!(
        outcome,
        ClaimOutcome::InFlight {
            lease_until: start() + LEASE
        }
    );
}

/// Status, header lines in their order, their bytes, and the body come back as they were kept.
pub async fn a_completed_answer_comes_back_whole(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    assert_eq!(complete(store, 1, small_answer()).await, Settled::Done);
    for _ in 0..2 {
        let outcome = claim(store, &claim_by(2, start()), start()).await;
        assert_eq!(outcome, ClaimOutcome::Settled(small_answer()));
    }
}

/// Outcomes that have no answer are kept as well.
pub async fn an_outcome_without_an_answer_comes_back(store: &dyn IdempotencyStore) {
    for (name, outcome) in [
        (1, Outcome::Unreplayable { status: 201 }),
        (2, Outcome::Indeterminate),
    ] {
        let held = Claim {
            key: key(name),
            ..claim_by(1, start())
        };
        claim(store, &held, start()).await;
        store
            .complete(&held.key, &held.fence, outcome.clone(), start() + LIFETIME)
            .await
            .unwrap();
        assert_eq!(claim(store, &held, start()).await, ClaimOutcome::Settled(outcome));
    }
}

/// A different request is told so in every state, also when the first has broken off.
pub async fn a_different_request_is_mismatched(store: &dyn IdempotencyStore) {
    let other = Claim {
        fingerprint: OTHER_REQUEST,
        ..taking_over(2, start())
    };
    claim(store, &claim_by(1, start()), start()).await;
    assert_eq!(claim(store, &other, start()).await, ClaimOutcome::Mismatched);
    assert_eq!(
        claim(store, &other, start() + LEASE).await,
        ClaimOutcome::Mismatched
    );
    complete(store, 1, small_answer()).await;
    assert_eq!(claim(store, &other, start()).await, ClaimOutcome::Mismatched);
}

/// After a release any request may use the key, a different one too.
pub async fn a_released_key_is_unused_again(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Done);
    assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
    let other = Claim {
        fingerprint: OTHER_REQUEST,
        ..claim_by(2, start())
    };
    assert_eq!(claim(store, &other, start()).await, ClaimOutcome::Claimed);
}

/// A lease holds until the instant before its end, and not at its end.
pub async fn a_lease_ends_at_its_exact_instant(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    let (end, holder) = (start() + LEASE, taking_over(2, start() + LEASE));
    let before = claim(store, &holder, end - MILLISECOND).await;
    assert_eq!(before, ClaimOutcome::InFlight { lease_until: end });
    assert_eq!(claim(store, &holder, end).await, ClaimOutcome::Claimed);
    let after = claim(store, &taking_over(3, end), end).await;
    assert_eq!(
        after,
        ClaimOutcome::InFlight {
            lease_until: end + LEASE
        }
    );
}

/// Who does not ask to run again hears that the outcome is unknown, every time.
pub async fn a_broken_off_request_is_not_run_again_unless_asked(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    let end = start() + LEASE;
    for _ in 0..2 {
        let outcome = claim(store, &claim_by(2, end), end).await;
        assert_eq!(outcome, ClaimOutcome::Settled(Outcome::Indeterminate));
    }
    assert_eq!(
        claim(store, &taking_over(3, end), end).await,
        ClaimOutcome::Claimed
    );
}

/// A record counts until the instant before it expires, and not when it expires, whatever its state.
pub async fn a_record_is_gone_at_its_exact_instant(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    let end = start() + LEASE + LIFETIME;
    let before = claim(store, &claim_by(2, end), end - MILLISECOND).await;
    assert_eq!(before, ClaimOutcome::Settled(Outcome::Indeterminate));
    let other = Claim {
        fingerprint: OTHER_REQUEST,
        ..claim_by(2, end)
    };
    assert_eq!(claim(store, &other, end).await, ClaimOutcome::Claimed);
}

/// Completion sets the expiry anew.
pub async fn a_settled_record_lives_until_its_new_expiry(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    let end = start() + LIFETIME * 3;
    store
        .complete(&key(1), &fence(1), small_answer(), end)
        .await
        .unwrap();
    let before = claim(store, &claim_by(2, end), end - MILLISECOND).await;
    assert_eq!(before, ClaimOutcome::Settled(small_answer()));
    assert_eq!(claim(store, &claim_by(2, end), end).await, ClaimOutcome::Claimed);
}

/// After a takeover, the first holder can neither complete nor release.
pub async fn a_holder_that_lost_its_key_changes_nothing(store: &dyn IdempotencyStore) {
    let end = start() + LEASE;
    claim(store, &claim_by(1, start()), start()).await;
    claim(store, &taking_over(2, end), end).await;
    assert_eq!(complete(store, 1, Outcome::Indeterminate).await, Settled::Fenced);
    assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
    let waiting = claim(store, &taking_over(3, end), end).await;
    assert_eq!(
        waiting,
        ClaimOutcome::InFlight {
            lease_until: end + LEASE
        }
    );
    assert_eq!(complete(store, 2, small_answer()).await, Settled::Done);
}

/// A lease that ended takes nothing away while nobody else has claimed the key.
pub async fn a_late_holder_may_still_settle(store: &dyn IdempotencyStore) {
    let end = start() + LEASE;
    claim(store, &claim_by(1, start()), start()).await;
    claim(store, &claim_by(2, end), end).await;
    assert_eq!(complete(store, 1, small_answer()).await, Settled::Done);
    assert_eq!(
        claim(store, &claim_by(2, end), end).await,
        ClaimOutcome::Settled(small_answer())
    );
}

/// A record that is settled stays as it is.
pub async fn a_record_is_settled_once(store: &dyn IdempotencyStore) {
    claim(store, &claim_by(1, start()), start()).await;
    complete(store, 1, small_answer()).await;
    assert_eq!(complete(store, 1, Outcome::Indeterminate).await, Settled::Fenced);
    assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
    assert_eq!(
        claim(store, &claim_by(2, start()), start()).await,
        ClaimOutcome::Settled(small_answer())
    );
}

/// Settling a key that nobody claimed writes nothing.
pub async fn an_unknown_key_cannot_be_settled(store: &dyn IdempotencyStore) {
    assert_eq!(complete(store, 1, small_answer()).await, Settled::Fenced);
    assert_eq!(store.release(&key(1), &fence(1)).await.unwrap(), Settled::Fenced);
    assert_eq!(
        claim(store, &claim_by(1, start()), start()).await,
        ClaimOutcome::Claimed
    );
}

/// Keys are bytes: zeros, all ones, line ends and quotes are keys like others.
pub async fn keys_do_not_touch_each_other(store: &dyn IdempotencyStore) {
    let names = [0, 0xFF, b'\n', b'\'', b'%'];
    for name in names {
        let held = Claim {
            key: key(name),
            ..claim_by(name, start())
        };
        assert_eq!(claim(store, &held, start()).await, ClaimOutcome::Claimed);
    }
    for name in names {
        let body = Bytes::copy_from_slice(&[name, 0, name]);
        let (held, outcome) = (
            Claim {
                key: key(name),
                ..claim_by(1, start())
            },
            answer(200, body),
        );
        let settled = store
            .complete(&held.key, &fence(name), outcome.clone(), start() + LIFETIME)
            .await
            .unwrap();
        assert_eq!(settled, Settled::Done);
        assert_eq!(claim(store, &held, start()).await, ClaimOutcome::Settled(outcome));
    }
}

/// Bodies of no bytes and of 4 MiB, and 500 header lines.
pub async fn empty_and_large_answers_come_back_whole(store: &dyn IdempotencyStore) {
    let lines = |count: usize| {
        (0..count)
            .map(|line| (format!("x-line-{line}"), Bytes::from(vec![b'v'; 200])))
            .collect()
    };
    let bodies = [Bytes::new(), Bytes::from_iter((0..=250_u8).cycle().take(4 << 20))];
    for (name, (headers, body)) in (1..).zip([lines(0), lines(500)].into_iter().zip(bodies)) {
        let outcome = Outcome::Completed(StoredResponse {
            status: 200,
            headers,
            body,
        });
        let held = Claim {
            key: key(name),
            ..claim_by(1, start())
        };
        claim(store, &held, start()).await;
        store
            .complete(&held.key, &held.fence, outcome.clone(), start() + LIFETIME)
            .await
            .unwrap();
        // not `assert_eq`: nobody wants to read 4 MiB
        assert!(
            claim(store, &held, start()).await == ClaimOutcome::Settled(outcome),
            "the answer changed"
        );
    }
}

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
