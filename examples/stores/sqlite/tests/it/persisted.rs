//! Texts of persisted queries in the file: their bound and unreadable rows.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use graph_core::persisted::{KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::StoreErrorKind;
use host_store_sqlite::{Database, DatabaseError};

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

/// A document of `kilobytes` that expires after `hours`.
fn document(number: usize, kilobytes: usize, hours: u64) -> PersistedDocument {
    let text = format!("{{ a{number} }}{}", " ".repeat(kilobytes << 10));
    PersistedDocument::new(&text, NOW + Duration::from_secs(hours * 3600))
}

async fn stored(database: &Database, document: &PersistedDocument) -> bool {
    database.text(&document.hash, NOW).await.unwrap().is_some()
}

/// G13, X6: texts that clients register take at most 64 MiB; those that expire first are evicted.
#[tokio::test]
async fn full_store_evicts_what_expires_first() {
    let database = Database::open_in_memory().unwrap();
    // each counts 1 MiB
    let documents: Vec<_> = (0..64).map(|n| document(n, 1020 - 1, 100 - n as u64)).collect();
    for document in &documents {
        assert_eq!(database.keep(document, NOW).await.unwrap(), KeepOutcome::New);
    }
    assert!(stored(&database, &documents[63]).await);
    let late = document(64, 1020 - 1, 200);
    assert_eq!(database.keep(&late, NOW).await.unwrap(), KeepOutcome::New);
    assert!(stored(&database, &late).await);
    assert!(!stored(&database, &documents[63]).await);
    assert!(stored(&database, &documents[62]).await);
    // a flood of short texts is bounded in number
    for number in 0..600 {
        let short = document(number, 0, 300);
        assert_eq!(database.keep(&short, NOW).await.unwrap(), KeepOutcome::New);
    }
    let used: i64 = database
        .read(|connection| -> Result<_, DatabaseError> {
            let sum = "SELECT sum(size) FROM graph_document";
            Ok(connection.query_row(sum, (), |row| row.get(0))?)
        })
        .await
        .unwrap();
    assert!((63 << 20..=64 << 20).contains(&used), "{used}");
    assert!(stored(&database, &late).await);
    assert!(!stored(&database, &documents[62]).await);

    let large = document(0, 16 << 10, 1);
    assert_eq!(database.keep(&large, NOW).await.unwrap(), KeepOutcome::TooLarge);
    assert!(!stored(&database, &large).await);
}

/// G13: expired texts are purged at their exact end.
#[tokio::test]
async fn purge_drops_expired_texts_only() {
    let database = Database::open_in_memory().unwrap();
    for number in 0..3 {
        let document = document(number, 0, 1 + number as u64);
        assert_eq!(database.keep(&document, NOW).await.unwrap(), KeepOutcome::New);
    }
    let end = NOW + Duration::from_secs(2 * 3600);
    assert_eq!(database.purge(end - Duration::from_nanos(1)).await.unwrap(), 1);
    assert_eq!(database.purge(end).await.unwrap(), 1);
    assert!(stored(&database, &document(2, 0, 3)).await);
}

/// G13: a text that is not UTF-8 is reported as corrupt.
#[tokio::test]
async fn unreadable_text_is_corrupt() {
    let database = Arc::new(Database::open_in_memory().unwrap());
    let document = document(0, 0, 1);
    assert_eq!(database.keep(&document, NOW).await.unwrap(), KeepOutcome::New);
    database
        .write(|transaction| -> Result<_, DatabaseError> {
            Ok(transaction.execute("UPDATE graph_document SET text = x'ff'", ())?)
        })
        .await
        .unwrap();
    let error = database.text(&document.hash, NOW).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}
