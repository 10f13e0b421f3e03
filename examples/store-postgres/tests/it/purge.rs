//! What has ended goes, and nothing else does.

use std::time::Duration;

use http_conventions::idempotency::{
    Claim as KeyClaim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, RecordKey,
};
use http_conventions::rate_limit::{Policy, Quota, RateLimitStore};
use store_postgres::sqlx;
use webhook_core::receiver::{Claim, Dedupe};

use crate::server::fresh;
use crate::support::{START, count, incoming};

/// W7: a claim goes at its exact end, however many there are; the queue of received events stays.
#[tokio::test]
async fn what_has_ended_is_purged_and_nothing_else() {
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

/// H6, H15, X5: a record goes at its exact end, and a bucket five minutes after it is full, when no clock that is behind asks for it any more.
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
