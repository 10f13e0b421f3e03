//! One call after the other: states, expiry, fences, bytes.

#![expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]

use std::time::Duration;

use bytes::Bytes;

use super::{
    LEASE, LIFETIME, answer, claim, claim_by, complete, fence, key, small_answer, start, taking_over,
};
use crate::idempotency::{
    Claim, ClaimOutcome, Fingerprint, IdempotencyStore, Outcome, Settled, StoredResponse,
};

const MILLISECOND: Duration = Duration::from_millis(1);
const OTHER_REQUEST: Fingerprint = Fingerprint::from_bytes([0x5A; 32]);

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
        // part by part, as the whole does not show what it holds
        if let (ClaimOutcome::Settled(Outcome::Completed(back)), Outcome::Completed(kept)) =
            (&outcome, small_answer())
        {
            assert_eq!(back.status, kept.status);
            assert_eq!(back.headers, kept.headers);
            assert_eq!(back.body, kept.body);
        }
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

/// Completion sets the expiry anew; then the next claim takes the place of the record, as if there had been none.
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
    assert_eq!(
        claim(store, &claim_by(3, end), end).await,
        ClaimOutcome::InFlight {
            lease_until: end + LEASE
        }
    );
    assert_eq!(complete(store, 1, Outcome::Indeterminate).await, Settled::Fenced);
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
        assert_eq!(claim(store, &held, start()).await, ClaimOutcome::Settled(outcome));
    }
}
