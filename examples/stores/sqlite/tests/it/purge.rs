//! Purges delete expired rows in small steps, and nothing else.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use host_store_sqlite::{Attempts, Database, DatabaseError};
use http_conventions::idempotency::{Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, RecordKey};
use http_conventions::limits::{Policy, Quota, RateLimitStore};
use oauth_core::attempts::{AttemptKey, AttemptPolicy};
use oauth_core::store::AttemptStore;
use oauth_core_conformance::attempt_store;
use webhook_core::receiver::{Claim as Claimed, Dedupe, Incoming};

use crate::support::{File, incoming};

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

/// X4: an expired row is deleted at its exact end, in any number; received events never expire.
#[tokio::test]
async fn purges_expired_rows_in_small_steps() {
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

/// O27: a flood of names evicts names of its kind with as few attempts, and opens no closed name.
#[tokio::test]
async fn open_names_with_fewest_attempts_are_evicted() {
    let database = Database::open_in_memory().unwrap();
    let policy = AttemptPolicy::PASSWORDS;
    let [passwords, clients] = ["passwords", "clients"].map(|kind| {
        let capacity = NonZeroU64::MIN.saturating_add(15);
        database.attempts_of(kind).with_capacity(capacity)
    });
    let left = async |name: &str| {
        let key = AttemptKey::subject(name);
        let mut left = 0;
        while passwords.admit(&key, &policy, NOW).await.unwrap().is_admitted() {
            left += 1;
        }
        left
    };
    let try_it = async |store: &Attempts, name: &str| {
        let key = AttemptKey::subject(name);
        assert!(store.admit(&key, &policy, NOW).await.unwrap().is_admitted());
    };
    assert_eq!(left("closed").await, 5);
    for _ in 0..2 {
        try_it(&passwords, "ada").await;
    }
    try_it(&clients, "ada").await;
    for number in 0..200 {
        try_it(&passwords, &number.to_string()).await;
        assert!(
            rows(&database, "oauth_attempt").await <= 17,
            "16, and one of the other kind"
        );
    }
    // the counts are kept
    assert_eq!((left("closed").await, left("ada").await), (0, 3));
    // forgotten and forgiven names are not counted
    passwords.forgive(&AttemptKey::subject("ada")).await.unwrap();
    assert!(
        passwords
            .purge_attempts(NOW + Duration::from_secs(48 * 3600))
            .await
            .unwrap()
            > 10
    );
    assert_eq!(rows(&database, "oauth_attempt").await, 0);
    assert_eq!(rows(&database, "oauth_attempt_kind WHERE names != 0").await, 0);
}

/// O27: if every name is closed, those with the fewest attempts are evicted, so that the file is
/// bounded.
#[tokio::test]
async fn closed_names_are_bounded() {
    let database = Database::open_in_memory().unwrap();
    let attempts = database
        .attempts_of("passwords")
        .with_capacity(NonZeroU64::MIN.saturating_add(7));
    for number in 0..40 {
        let key = AttemptKey::subject(&number.to_string());
        while attempts
            .admit(&key, &AttemptPolicy::PASSWORDS, NOW)
            .await
            .unwrap()
            .is_admitted()
        {}
        assert!(rows(&database, "oauth_attempt").await <= 8);
    }
}

/// O27: counts survive a restart.
#[tokio::test]
async fn attempts_outlive_the_process_that_counted_them() {
    let (file, key) = (File::new(), AttemptKey::subject("ada@example.com"));
    let attempts = file.open().attempts_of("passwords");
    while attempts
        .admit(&key, &AttemptPolicy::PASSWORDS, NOW)
        .await
        .unwrap()
        .is_admitted()
    {}
    drop(attempts);
    let standing = file.open().attempts_of("passwords").standing(&key, NOW).await;
    assert!(!standing.unwrap().is_admitted());
}

/// H15: a bucket is deleted five minutes after it is full, so that a clock which is behind finds
/// it.
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

/// O27: a full small store evicts forgotten names first.
#[tokio::test]
async fn forgotten_names_are_evicted_first() {
    let database = Database::open_in_memory().unwrap();
    let capacity = NonZeroU64::MIN.saturating_add(63);
    let few = database.attempts_of("passwords").with_capacity(capacity);
    attempt_store::expired_tallies_are_evicted_first(&(Arc::new(few) as _)).await;
}
