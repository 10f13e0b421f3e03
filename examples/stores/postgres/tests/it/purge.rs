//! Purges delete expired rows and nothing else.

use std::time::Duration;

use host_store_postgres::sqlx;
use http_conventions::idempotency::{
    Claim as KeyClaim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, RecordKey,
};
use http_conventions::limits::{Policy, Quota, RateLimitStore};
use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy};
use oauth_core::store::AttemptStore;
use webhook_core::receiver::{Claim, Dedupe};

use crate::server::fresh;
use crate::support::{START, count, incoming};

/// W7: a claim is deleted at its exact end, in any number; the queue of received events stays.
#[tokio::test]
async fn purges_only_expired_rows() {
    let database = fresh!();
    let soon = START + Duration::from_secs(60);
    for (number, expires_at) in [(1, soon), (2, soon + Duration::from_nanos(1))] {
        let claimed = database
            .claim_and_enqueue(incoming(number, expires_at), START)
            .await
            .unwrap();
        assert_eq!(claimed, Claim::Enqueued);
    }
    sqlx::query(
        "INSERT INTO webhook_claim (source, event, digest, expires_at)
         SELECT 'peer', 'old_' || n, '', 0 FROM generate_series(1, 1200) AS n",
    )
    .execute(database.pool())
    .await
    .unwrap();

    assert_eq!(database.purge(soon).await.unwrap(), 1_201);
    assert_eq!(count(&database, "webhook_claim").await, 1);
    assert_eq!(count(&database, "webhook_received").await, 2);
    assert_eq!(database.purge(soon).await.unwrap(), 0);
}

/// H6, H15, X5: a record is deleted at its exact end, and a bucket five minutes after it is full,
/// so that a machine whose clock is behind still finds it.
#[tokio::test]
async fn records_and_buckets_are_purged() {
    const MINUTE: Duration = Duration::from_secs(60);
    let (database, tick) = (fresh!(), Duration::from_nanos(1));
    let policy = Policy::new("user", Quota::per(1, MINUTE).unwrap()).unwrap();
    for (name, later) in [(1, Duration::ZERO), (2, tick)] {
        let (key, request) = (
            RecordKey::from_bytes([name; 32]),
            Fingerprint::from_bytes([0; 32]),
        );
        let end = START + MINUTE * 6 + later;
        let held = KeyClaim::new(key, request, Fence::from_bytes([0; 16]), START + MINUTE, end);
        assert_eq!(
            IdempotencyStore::claim(&database, &held, START).await.unwrap(),
            ClaimOutcome::Claimed
        );
        let partition = name.to_string();
        database
            .spend(&[policy.spend(&partition)], START + later)
            .await
            .unwrap();
    }
    assert_eq!(database.purge(START + MINUTE * 6 - tick).await.unwrap(), 0);
    assert_eq!(database.purge(START + MINUTE * 6).await.unwrap(), 2);
    assert_eq!(count(&database, "idempotency_record").await, 1);
    assert_eq!(count(&database, "rate_limit_bucket").await, 1);
}

/// O27: a flood of names evicts names with as few attempts, and opens no closed name.
#[tokio::test]
async fn open_names_with_fewest_attempts_are_evicted() {
    let (database, policy) = (fresh!(), AttemptPolicy::PASSWORDS);
    let try_it = async |name: &str, times: usize| {
        let key = AttemptKey::subject(name);
        for _ in 0..times {
            let admitted = database.admit(&key, &policy, START).await.unwrap();
            assert_eq!(admitted, Admission::Admitted);
        }
    };
    for name in ["a", "b", "c"] {
        try_it(name, 1).await;
    }
    try_it("ada", 3).await;
    try_it("closed", 5).await;
    assert_eq!(database.trim_attempts(5, START).await.unwrap(), 0);
    assert_eq!(database.trim_attempts(2, START).await.unwrap(), 3);
    // so `ada` has two left, not five
    try_it("ada", 2).await;
    assert!(
        !database
            .standing(&AttemptKey::subject("ada"), START)
            .await
            .unwrap()
            .is_admitted()
    );
    try_it("late", 1).await;
    assert_eq!(database.trim_attempts(0, START).await.unwrap(), 1);
    assert!(
        !database
            .standing(&AttemptKey::subject("closed"), START)
            .await
            .unwrap()
            .is_admitted()
    );
    // a minute later the names are open again
    let later = START + Duration::from_secs(60);
    assert_eq!(database.trim_attempts(0, later).await.unwrap(), 2);
}

/// O27: several machines that purge at once delete no more than one would.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_trims_delete_only_the_excess() {
    let (database, policy) = (fresh!(), AttemptPolicy::PASSWORDS);
    for number in 0..100 {
        let key = AttemptKey::subject(&number.to_string());
        assert!(database.admit(&key, &policy, START).await.unwrap().is_admitted());
    }
    let at_once = (0..8).map(|_| database.trim_attempts(60, START));
    let gone: u64 = futures_util::future::join_all(at_once)
        .await
        .into_iter()
        .map(Result::unwrap)
        .sum();
    assert_eq!((gone, count(&database, "oauth_attempt").await), (40, 60));
}
