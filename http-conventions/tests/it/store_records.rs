//! Records of the store ports, built and read like by a store in another crate.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http_conventions::{
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, MemoryIdempotencyStore,
        Record, RecordKey, RequestOutcome, State, StoredResponse, decide,
    },
    limits::{BucketKey, MemoryRateLimitStore, Policy, Quota, RateLimitStore, State as Bucket},
};

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn claim() -> Claim {
    Claim::new(
        RecordKey::from_bytes([1; 32]),
        Fingerprint::from_bytes([2; 32]),
        Fence::from_bytes([3; 16]),
        start() + Duration::from_secs(60),
        start() + Duration::from_secs(3600),
    )
}

/// H6: a store outside this crate can write and read every column of a record.
#[test]
fn idempotency_records_are_rebuilt_from_their_columns() {
    let response = StoredResponse {
        status: 201,
        headers: vec![("etag".to_owned(), Bytes::from_static(b"\"1\""))],
        body: Bytes::from_static(b"{}"),
    };
    let in_flight = State::InFlight {
        fence: Fence::from_bytes(*claim().fence.as_bytes()),
        lease_until: claim().lease_until,
    };
    let outcomes = [
        RequestOutcome::Completed(response),
        RequestOutcome::Unreplayable { status: 200 },
        RequestOutcome::Indeterminate,
    ];
    for state in outcomes.into_iter().map(State::Settled).chain([in_flight]) {
        let record = Record {
            fingerprint: Fingerprint::from_bytes(*claim().fingerprint.as_bytes()),
            state: state.clone(),
            expires_at: claim().expires_at,
        };
        let expected = match state {
            State::Settled(outcome) => ClaimOutcome::Settled(outcome),
            State::InFlight { lease_until, .. } => ClaimOutcome::InFlight { lease_until },
        };
        assert_eq!(decide(Some(record), &claim(), start()), expected);
    }
    assert_eq!(claim().after_crash, AfterCrash::Refuse);
    assert_eq!(RecordKey::from_bytes(*claim().key.as_bytes()), claim().key);
}

/// H15: a store outside this crate can write and read a bucket.
#[test]
fn rate_limit_states_are_rebuilt_from_their_columns() {
    let policy = Policy::new("user", Quota::per(1, Duration::from_secs(1)).unwrap()).unwrap();
    let operation = policy.spend("ada").operation(start());
    assert_eq!(
        BucketKey::from_bytes(*operation.bucket.as_bytes()),
        operation.bucket
    );
    let state = Bucket::from_nanoseconds(operation.now + operation.increment);
    assert_eq!(Bucket::from_nanoseconds(state.as_nanoseconds()), state);
    assert!(state.as_nanoseconds() <= operation.latest && operation.latest < operation.horizon);
}

/// H6, H15: `Arc` of a store is a store, so that several owners can share it.
#[tokio::test]
async fn arc_of_a_store_forwards_every_call() {
    let idempotency: Arc<dyn IdempotencyStore> = Arc::new(MemoryIdempotencyStore::default());
    let (shared, held) = (Arc::clone(&idempotency), claim());
    let claimed = IdempotencyStore::claim(&shared, &held, start()).await.unwrap();
    assert_eq!(claimed, ClaimOutcome::Claimed);
    let outcome = RequestOutcome::Unreplayable { status: 200 };
    let expires_at = held.expires_at;
    IdempotencyStore::complete(&shared, &held.key, &held.fence, outcome.clone(), expires_at)
        .await
        .unwrap();
    let found = idempotency.claim(&held, start()).await.unwrap();
    assert_eq!(found, ClaimOutcome::Settled(outcome));

    let limits = Arc::new(MemoryRateLimitStore::default());
    let policy = Policy::new("user", Quota::per(1, Duration::from_secs(1)).unwrap()).unwrap();
    let spends = [policy.spend("ada")];
    RateLimitStore::spend(&limits, &spends, start()).await.unwrap();
    let states = limits.spend(&spends, start()).await.unwrap();
    assert!(
        states.iter().all(|state| state.as_nanoseconds() > 0),
        "{states:?}"
    );
}
