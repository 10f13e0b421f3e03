//! Texts of automatic persisted queries (G13), in `graph_document`.
//!
//! The store is bounded: at most 64 MiB of texts, where each text counts 4 KiB more than its
//! length. A new text above the limit evicts those that expire first.

use std::str;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::StoreError;
use rusqlite::{OptionalExtension, Transaction};

use crate::column::{Time, limit};
use crate::database::{Database, DatabaseError, DatabaseErrorKind};

/// Maximum of the counted bytes of all texts.
const CAPACITY: usize = 64 << 20;

/// Bytes that a text counts in addition to its length. They bound the number of rows.
const OVERHEAD: usize = 4 << 10;

/// Rows from the one that expires first, until their sizes reach the excess `?1`.
const EVICT: &str = "DELETE FROM graph_document WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, size, sum(size) OVER (ORDER BY expires_at, size, rowid) AS through FROM graph_document)
    WHERE through - size < ?1)";

#[async_trait]
impl PersistedStore for Database {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let hash = *hash;
        let find = self.read(move |connection| -> Result<_, DatabaseError> {
            let mut statement = connection
                .prepare_cached("SELECT text FROM graph_document WHERE hash = ?1 AND expires_at > ?2")?;
            let text = statement.query_row((hash.as_bytes(), Time(now)), |row| {
                Ok(str::from_utf8(row.get_ref(0)?.as_blob()?).map(Arc::from))
            });
            let text = text.optional()?.transpose();
            text.map_err(|error| DatabaseError::new(DatabaseErrorKind::Corrupt, error))
        });
        Ok(find.await?)
    }

    /// A power cut may lose the text: its client then registers it again.
    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        if OVERHEAD + document.text.len() > CAPACITY / 4 {
            return Ok(KeepOutcome::TooLarge);
        }
        let document = document.clone();
        let keep = self.write_without_sync(move |transaction| keep(transaction, &document, now));
        Ok(keep.await?)
    }
}

fn keep(
    transaction: &Transaction<'_>,
    document: &PersistedDocument,
    now: SystemTime,
) -> Result<KeepOutcome, DatabaseError> {
    let hash = document.hash.as_bytes();
    let mut find = transaction.prepare_cached("SELECT expires_at FROM graph_document WHERE hash = ?1")?;
    let found = find.query_row([hash], |row| row.get(0).map(|Time(end)| end));
    let Some(end) = found.optional()? else {
        insert(transaction, document)?;
        return Ok(KeepOutcome::New);
    };
    if end < document.expires_at {
        transaction
            .prepare_cached("UPDATE graph_document SET expires_at = ?2 WHERE hash = ?1")?
            .execute((hash, Time(document.expires_at)))?;
    }
    Ok(if now < end {
        KeepOutcome::Known
    } else {
        KeepOutcome::New
    })
}

fn insert(transaction: &Transaction<'_>, document: &PersistedDocument) -> Result<(), DatabaseError> {
    let size = OVERHEAD + document.text.len();
    let used: i64 = transaction
        .prepare_cached("SELECT coalesce(sum(size), 0) FROM graph_document")?
        .query_row((), |row| row.get(0))?;
    let excess = used + limit(size) - limit(CAPACITY);
    if excess > 0 {
        transaction.prepare_cached(EVICT)?.execute([excess])?;
    }
    transaction
        .prepare_cached("INSERT INTO graph_document (hash, text, size, expires_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute((
            document.hash.as_bytes(),
            document.text.as_bytes(),
            limit(size),
            Time(document.expires_at),
        ))?;
    Ok(())
}
