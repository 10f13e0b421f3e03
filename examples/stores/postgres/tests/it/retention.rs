//! Purges of old events beside replays: no deadlock, and no orphaned rows.

use std::time::Duration;

use host_store_postgres::{Database, sqlx};
use webhook_core::sender::{MissingRequest, Outbox, Period, PurgeRequest, ReplayRequest, Retention};

use crate::server::fresh;
use crate::support::{START, count, endpoint, execute};

const LATER: Duration = Duration::from_secs(60);

/// 250 events, more than one step deletes, each with a failed delivery.
async fn with_failures(database: &Database) {
    let statements = "INSERT INTO webhook_event SELECT 'evt_' || n, 'note.created', 'everyone', 0, '' FROM generate_series(1, 250) AS n;
        INSERT INTO webhook_finished SELECT id, 'ep_1', 'dead_letter', 0, 7, 7, 0, 'attempts_exhausted', 0 FROM webhook_event;
        INSERT INTO webhook_lane (endpoint) VALUES ('ep_1')";
    execute(database.pool(), statements).await;
}

async fn purge(database: &Database, limit: usize) -> u64 {
    let request = PurgeRequest {
        before: START + LATER,
        failed: true,
        limit,
    };
    Retention::purge(database, &request).await.unwrap()
}

async fn without_an_event(database: &Database) -> i64 {
    count(
        database,
        "webhook_delivery WHERE event NOT IN (SELECT id FROM webhook_event)",
    )
    .await
}

/// W18: a purge runs in steps, up to the limit of the call.
#[tokio::test]
async fn a_purge_of_many_events_goes_in_steps() {
    let database = fresh!();
    with_failures(&database).await;
    assert_eq!(purge(&database, 120).await, 120);
    assert_eq!(purge(&database, usize::MAX).await, 130);
    assert_eq!(count(&database, "webhook_event").await, 0);
    assert_eq!(count(&database, "webhook_delivery").await, 0);
}

/// W18: a purge skips rows that another transaction holds, and does not wait.
#[tokio::test]
async fn a_purge_passes_by_what_is_being_replayed() {
    let database = fresh!();
    with_failures(&database).await;
    let mut replay = database.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM webhook_finished WHERE event IN ('evt_7', 'evt_8') FOR UPDATE")
        .execute(&mut *replay)
        .await
        .unwrap();
    assert_eq!(purge(&database, 1_000).await, 248);
    replay.rollback().await.unwrap();
    assert_eq!(purge(&database, 1_000).await, 2);
}

/// W18: an event that is replayed beside a purge is kept whole or deleted whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replay_beside_a_purge_keeps_events_whole() {
    let database = fresh!();
    with_failures(&database).await;
    let replaying = tokio::spawn({
        let database = database.clone();
        async move {
            let request = ReplayRequest {
                filter: Default::default(),
                acknowledged: false,
                after: None,
                limit: usize::MAX,
                now: START + LATER,
                dry_run: false,
            };
            database.replay(&request).await.unwrap().count
        }
    });
    let purged = purge(&database, 1_000).await;
    let replayed = replaying.await.unwrap();
    assert_eq!(without_an_event(&database).await, 0);
    assert_eq!(count(&database, "webhook_ready").await.unsigned_abs(), replayed);
    assert_eq!(purged + replayed, 250);
}

/// W18: so is an event whose missing delivery is created beside a purge.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn missing_deliveries_beside_a_purge_have_events() {
    let database = fresh!();
    with_failures(&database).await;
    let making = tokio::spawn({
        let database = database.clone();
        async move {
            let request = MissingRequest {
                created: Period::default(),
                after: None,
                limit: 1_000,
                now: START + LATER,
                dry_run: false,
            };
            let missing = database.replay_missing(&endpoint("ep_2"), &request).await;
            missing.unwrap().count
        }
    });
    let purged = purge(&database, 1_000).await;
    let made = making.await.unwrap();
    assert_eq!(without_an_event(&database).await, 0);
    assert_eq!(purged + made, 250);
}
