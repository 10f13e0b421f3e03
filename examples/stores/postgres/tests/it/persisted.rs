//! Texts of persisted queries on the server: their bound and unreadable rows.

use std::time::Duration;

use futures_util::future::join_all;
use graph_core::persisted::{KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::StoreErrorKind;
use host_store_postgres::{Database, sqlx};

use crate::server::fresh;
use crate::support::{START, count};

/// A document of `kilobytes` that expires after `hours`.
fn document(number: usize, kilobytes: usize, hours: u64) -> PersistedDocument {
    let text = format!("{{ a{number} }}{}", " ".repeat(kilobytes << 10));
    PersistedDocument::new(&text, START + Duration::from_secs(hours * 3600))
}

async fn stored(database: &Database, document: &PersistedDocument) -> bool {
    database.text(&document.hash, START).await.unwrap().is_some()
}

async fn used(database: &Database) -> i64 {
    let sum = sqlx::query_scalar("SELECT sum(size)::BIGINT FROM graph_document");
    sum.fetch_one(database.pool()).await.unwrap()
}

/// G13, X6: texts that clients register take at most 64 MiB, also if many arrive at once; those
/// that expire first are evicted.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn full_store_evicts_what_expires_first() {
    let database = fresh!();
    // each counts 1 MiB
    let documents: Vec<_> = (0..64).map(|n| document(n, 1020 - 1, 100 - n as u64)).collect();
    let kept = join_all(documents.iter().map(|document| database.keep(document, START))).await;
    assert!(kept.into_iter().all(|kept| kept.unwrap() == KeepOutcome::New));
    assert!(stored(&database, &documents[63]).await);
    let late = document(64, 1020 - 1, 200);
    assert_eq!(database.keep(&late, START).await.unwrap(), KeepOutcome::New);
    assert!(stored(&database, &late).await);
    assert!(!stored(&database, &documents[63]).await);
    assert!(stored(&database, &documents[62]).await);
    // a flood of short texts is bounded in number
    let short: Vec<_> = (0..600).map(|number| document(number, 0, 300)).collect();
    let kept = join_all(short.iter().map(|document| database.keep(document, START))).await;
    assert!(kept.into_iter().all(|kept| kept.unwrap() == KeepOutcome::New));
    let used = used(&database).await;
    assert!((63 << 20..=64 << 20).contains(&used), "{used}");
    assert!(stored(&database, &late).await);
    assert!(!stored(&database, &documents[62]).await);

    let large = document(0, 16 << 10, 1);
    assert_eq!(database.keep(&large, START).await.unwrap(), KeepOutcome::TooLarge);
    assert!(!stored(&database, &large).await);
}

/// G13: expired texts are purged at their exact end.
#[tokio::test]
async fn purge_drops_expired_texts_only() {
    let database = fresh!();
    for number in 0..3 {
        let document = document(number, 0, 1 + number as u64);
        assert_eq!(database.keep(&document, START).await.unwrap(), KeepOutcome::New);
    }
    let end = START + Duration::from_secs(2 * 3600);
    assert_eq!(database.purge(end - Duration::from_nanos(1)).await.unwrap(), 1);
    assert_eq!(database.purge(end).await.unwrap(), 1);
    assert_eq!(count(&database, "graph_document").await, 1);
}

/// G13: a text that is not UTF-8 is reported as corrupt.
#[tokio::test]
async fn unreadable_text_is_corrupt() {
    let database = fresh!();
    let document = document(0, 0, 1);
    assert_eq!(database.keep(&document, START).await.unwrap(), KeepOutcome::New);
    sqlx::query(r"UPDATE graph_document SET text = '\xff'")
        .execute(database.pool())
        .await
        .unwrap();
    let error = database.text(&document.hash, START).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}
