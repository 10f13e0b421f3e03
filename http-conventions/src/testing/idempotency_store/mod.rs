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

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, Outcome, RecordKey, Settled,
    StoredResponse,
};

mod races;
mod states;

pub use self::{
    races::{
        a_completion_races_a_takeover, one_of_thirty_two_claims_wins, one_of_thirty_two_completions_wins,
        one_of_thirty_two_takes_a_broken_off_key_over,
    },
    states::{
        a_broken_off_request_is_not_run_again_unless_asked, a_completed_answer_comes_back_whole,
        a_different_request_is_mismatched, a_held_key_is_in_flight,
        a_holder_that_lost_its_key_changes_nothing, a_late_holder_may_still_settle,
        a_lease_ends_at_its_exact_instant, a_record_is_gone_at_its_exact_instant, a_record_is_settled_once,
        a_released_key_is_unused_again, a_settled_record_lives_until_its_new_expiry,
        an_outcome_without_an_answer_comes_back, an_unknown_key_cannot_be_settled, an_unused_key_is_claimed,
        empty_and_large_answers_come_back_whole, keys_do_not_touch_each_other,
    },
};

const LEASE: Duration = Duration::from_secs(60);
const LIFETIME: Duration = Duration::from_secs(86_400);
const REQUEST: Fingerprint = Fingerprint::from_bytes([0xA5; 32]);

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

/// No whole second, so that a store which cuts times shows it.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_789)
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

/// The same claim, which takes over a key whose holder broke off.
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

#[expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]
async fn claim(store: &dyn IdempotencyStore, claim: &Claim, now: SystemTime) -> ClaimOutcome {
    store.claim(claim, now).await.unwrap()
}

#[expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]
async fn complete(store: &dyn IdempotencyStore, holder: u8, outcome: Outcome) -> Settled {
    store
        .complete(&key(1), &fence(holder), outcome, start() + LIFETIME)
        .await
        .unwrap()
}
