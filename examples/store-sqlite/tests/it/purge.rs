//! What has expired goes, in small steps, and nothing else does.

use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use http_conventions::idempotency::{Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, RecordKey};
use http_conventions::rate_limit::{Policy, Quota, RateLimitStore};
use store_sqlite::{Database, DatabaseError};
use webhook_core::receiver::{Claim as Claimed, Dedupe, Incoming};

use crate::support::incoming;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn claim(number: u16, expires_at: SystemTime) -> Claim {
    let mut key = [0; 32];
    key[..2].copy_from_slice(&number.to_be_bytes());
    let (key, fingerprint) = (RecordKey::from_bytes(key), Fingerprint::from_bytes([0; 32]));
    Claim::new(
        key,
        fingerprint,
        Fence::from_bytes([0; 16]),
        expires_at,
        expires_at,
    )
}

async fn rows(database: &Database, table: &'static str) -> u64 {
    let count = database.read(move |connection| -> Result<i64, DatabaseError> {
        Ok(connection.query_row(&format!("SELECT count(*) FROM {table}"), (), |row| row.get(0))?)
    });
    count.await.unwrap().try_into().unwrap()
}

/// X4: an expired row goes at its exact instant, however many there are; the queue of received events is no such row.
#[tokio::test]
async fn what_has_expired_is_purged_in_small_steps_and_nothing_else() {
    let database = Database::open_in_memory().unwrap();
    let (soon, later) = (
        NOW + Duration::from_secs(60),
        NOW + Duration::from_nanos(60_000_000_001),
    );
    let claims: Vec<_> = (0..1200)
        .map(|n| claim(n, soon))
        .chain([claim(1200, later)])
        .collect();
    for outcome in join_all(claims.iter().map(|claim| database.claim(claim, NOW))).await {
        assert_eq!(outcome.unwrap(), ClaimOutcome::Claimed);
    }
    for (number, expires_at) in [(1, soon), (2, later)] {
        let event = Incoming {
            expires_at,
            ..incoming(number)
        };
        assert_eq!(
            database.claim_and_enqueue(event, NOW).await.unwrap(),
            Claimed::Enqueued
        );
    }

    let before = database.commits();
    assert_eq!(database.purge(soon).await.unwrap(), 1201);
    assert!(
        database.commits() - before > 3,
        "more than one step for 1200 records"
    );
    assert_eq!(rows(&database, "idempotency_record").await, 1);
    assert_eq!(rows(&database, "webhook_claim").await, 1);
    assert_eq!(rows(&database, "webhook_received").await, 2);
    assert_eq!(database.purge(soon).await.unwrap(), 0);
}

/// H15: a bucket that has been full for five minutes goes; one that a clock which is behind may still ask for stays.
#[tokio::test]
async fn a_bucket_goes_some_minutes_after_it_is_full() {
    const MINUTE: Duration = Duration::from_secs(60);
    let database = Database::open_in_memory().unwrap();
    let policy = Policy::new("user", Quota::per(1, MINUTE).unwrap()).unwrap();
    for (name, now) in [("ada", NOW), ("bob", NOW + Duration::from_nanos(1))] {
        database.spend(&[policy.spend(name)], now).await.unwrap();
    }
    let last = NOW + MINUTE * 6;
    assert_eq!(database.purge(last - Duration::from_nanos(1)).await.unwrap(), 0);
    assert_eq!(database.purge(last).await.unwrap(), 1);
    assert_eq!(rows(&database, "rate_limit_bucket").await, 1);
}
