//! Start, growth and sharing of a schema, and the clock of the database.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use host_store_postgres::{Database, DatabaseErrorKind, sqlx};
use webhook_core::ports::Clock;
use webhook_core::sender::{Enqueued, Outbox};

use crate::server::{fresh, schema};
use crate::support::{count, event, execute};

/// X5: processes that start together on an empty schema make the tables once, and all succeed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_start_together_make_the_tables_once() {
    let schema = schema!();
    let started = join_all((0..8).map(|_| {
        let schema = schema.clone();
        tokio::spawn(async move { schema.database().await })
    }))
    .await;
    let databases: Vec<Database> = started.into_iter().map(Result::unwrap).collect();
    assert_eq!(
        databases[0].enqueue(event(1, &["ep_1"])).await.unwrap(),
        Enqueued::Enqueued
    );
    assert_eq!(
        databases[7].enqueue(event(1, &["ep_1"])).await.unwrap(),
        Enqueued::Duplicate
    );
    assert_eq!(
        count(
            &databases[3],
            "store_component WHERE name LIKE 'host-store-postgres/%' AND version = 1"
        )
        .await,
        4
    );
}

/// X5: the error names the version found and the version read, and nothing is changed.
#[tokio::test]
async fn refuses_schema_of_another_release() {
    let schema = schema!();
    let database = schema.database().await;
    let newer = "UPDATE store_component SET version = 99 WHERE name = 'host-store-postgres/webhooks'";
    execute(database.pool(), newer).await;
    let error = Database::connect(&schema.url()).await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Incompatible);
    let reason = "`host-store-postgres/webhooks` is at version 99 in the schema, this release reads 1";
    assert_eq!(error.source().unwrap().to_string(), reason);
    assert_eq!(count(&database, "store_component WHERE version = 99").await, 1);
}

/// X5: a build with one more feature makes the tables of that feature in an existing schema.
#[tokio::test]
async fn adds_tables_of_a_feature_to_an_existing_schema() {
    let schema = schema!();
    let database = schema.database().await;
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
    let without_conventions =
        "DROP TABLE idempotency_record, rate_limit_bucket; DROP FUNCTION rate_limit_spend;
         DELETE FROM store_component WHERE name = 'host-store-postgres/conventions'";
    execute(database.pool(), without_conventions).await;

    let database = schema.database().await;
    assert_eq!(
        database.enqueue(event(1, &["ep_1"])).await.unwrap(),
        Enqueued::Duplicate
    );
    assert_eq!(count(&database, "idempotency_record").await, 0);
    assert_eq!(count(&database, "rate_limit_bucket").await, 0);
}

#[tokio::test]
async fn a_hosts_own_tables_grow_step_by_step() {
    const FIRST: &str = "CREATE TABLE note (id BIGINT PRIMARY KEY)";
    const SECOND: &str = "ALTER TABLE note ADD COLUMN text TEXT; CREATE INDEX note_text ON note (text)";
    let database = fresh!();
    database.migrate("notes", &[FIRST]).await.unwrap();
    execute(database.pool(), "INSERT INTO note (id) VALUES (1)").await;
    database.migrate("notes", &[FIRST, SECOND]).await.unwrap();
    database.migrate("notes", &[FIRST, SECOND]).await.unwrap();
    assert_eq!(count(&database, "note WHERE text IS NULL").await, 1);

    let refused = database
        .migrate("other", &["CREATE TABLE other (id BIGINT)", "no statement"])
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), DatabaseErrorKind::Failed);
    assert_eq!(count(&database, "store_component WHERE name = 'other'").await, 0);
    database
        .migrate("other", &["CREATE TABLE other (id BIGINT)"])
        .await
        .unwrap();
}

/// X5: all machines can share the clock of the database.
#[tokio::test]
async fn the_clock_of_the_database_goes_on_without_it() {
    let database = fresh!();
    let clock = database.clock().await.unwrap();
    let (theirs, ours) = (database.now().await.unwrap(), clock.now());
    let apart = ours
        .duration_since(theirs)
        .unwrap_or_else(|before| before.duration());
    assert!(apart < Duration::from_secs(1), "{apart:?}");
    database.pool().close().await;
    assert!(clock.now() > SystemTime::UNIX_EPOCH);
}

/// A machine that crashes in a transaction holds its locks for a minute at most.
#[tokio::test]
async fn connections_come_with_their_timeouts() {
    let database = fresh!();
    for (setting, expected) in [
        ("idle_in_transaction_session_timeout", "1min"),
        ("lock_timeout", "10s"),
        ("statement_timeout", "30s"),
    ] {
        let value: String = sqlx::query_scalar("SELECT current_setting($1)")
            .bind(setting)
            .fetch_one(database.pool())
            .await
            .unwrap();
        assert_eq!(value, expected, "{setting}");
    }
}
