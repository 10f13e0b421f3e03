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
use sqlx::{PgConnection, PgPool};

use crate::column::{limit, nanoseconds, time};
use crate::database::{Database, DatabaseError, begin};

/// Maximum of the counted bytes of all texts.
const CAPACITY: usize = 64 << 20;

/// Bytes that a text counts in addition to its length. They bound the number of rows.
const OVERHEAD: usize = 4 << 10;

#[async_trait]
impl PersistedStore for Database {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let hash = *hash;
        let find = self.run(move |pool| async move {
            let text: Option<Vec<u8>> =
                sqlx::query_scalar("SELECT text FROM graph_document WHERE hash = $1 AND expires_at > $2")
                    .bind(&hash.as_bytes()[..])
                    .bind(nanoseconds(now))
                    .fetch_optional(&pool)
                    .await?;
            let text = text.as_deref().map(str::from_utf8).transpose();
            Ok(text.map_err(DatabaseError::corrupt)?.map(Arc::from))
        });
        Ok(find.await?)
    }

    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        if OVERHEAD + document.text.len() > CAPACITY / 4 {
            return Ok(KeepOutcome::TooLarge);
        }
        let document = document.clone();
        let keep = self.run(move |pool| async move {
            if extend_known(&pool, &document, now).await? {
                return Ok(KeepOutcome::Known);
            }
            keep_new(&pool, &document, now).await
        });
        Ok(keep.await?)
    }
}

/// Extends the lifetime of a document that is stored and alive; returns `false` if there is none.
async fn extend_known(
    pool: &PgPool,
    document: &PersistedDocument,
    now: SystemTime,
) -> Result<bool, DatabaseError> {
    let extended = sqlx::query(
        "UPDATE graph_document SET expires_at = GREATEST(expires_at, $2) WHERE hash = $1 AND expires_at > $3",
    )
    .bind(&document.hash.as_bytes()[..])
    .bind(nanoseconds(document.expires_at))
    .bind(nanoseconds(now))
    .execute(pool)
    .await?;
    Ok(extended.rows_affected() > 0)
}

/// Stores a document that was absent or had expired. Insertions take turns, so that together they
/// do not exceed the capacity.
async fn keep_new(
    pool: &PgPool,
    document: &PersistedDocument,
    now: SystemTime,
) -> Result<KeepOutcome, DatabaseError> {
    let mut transaction = begin(pool).await?;
    sqlx::query("SELECT pg_advisory_xact_lock('graph_document'::regclass::oid::bigint)")
        .execute(&mut *transaction)
        .await?;
    let found: Option<i64> =
        sqlx::query_scalar("SELECT expires_at FROM graph_document WHERE hash = $1 FOR UPDATE")
            .bind(&document.hash.as_bytes()[..])
            .fetch_optional(&mut *transaction)
            .await?;
    let outcome = if let Some(end) = found {
        sqlx::query("UPDATE graph_document SET expires_at = GREATEST(expires_at, $2) WHERE hash = $1")
            .bind(&document.hash.as_bytes()[..])
            .bind(nanoseconds(document.expires_at))
            .execute(&mut *transaction)
            .await?;
        match now < time(end)? {
            true => KeepOutcome::Known,
            false => KeepOutcome::New,
        }
    } else {
        insert(&mut transaction, document).await?;
        KeepOutcome::New
    };
    transaction.commit().await?;
    Ok(outcome)
}

/// Inserts a row, and deletes those that expire first until it has room. Rows that a purge deletes
/// are skipped.
async fn insert(connection: &mut PgConnection, document: &PersistedDocument) -> Result<(), DatabaseError> {
    let size = OVERHEAD + document.text.len();
    let used: i64 = sqlx::query_scalar("SELECT coalesce(sum(size), 0)::BIGINT FROM graph_document")
        .fetch_one(&mut *connection)
        .await?;
    let excess = used + limit(size) - limit(CAPACITY);
    if excess > 0 {
        sqlx::query(
            "DELETE FROM graph_document WHERE hash = ANY(ARRAY(
             SELECT hash FROM graph_document WHERE hash IN (
                 SELECT hash FROM (
                     SELECT hash, size, sum(size) OVER (ORDER BY expires_at, size, hash) AS through
                     FROM graph_document) AS sized
                 WHERE through - size < $1)
             FOR UPDATE SKIP LOCKED))",
        )
        .bind(excess)
        .execute(&mut *connection)
        .await?;
    }
    sqlx::query("INSERT INTO graph_document (hash, text, size, expires_at) VALUES ($1, $2, $3, $4)")
        .bind(&document.hash.as_bytes()[..])
        .bind(document.text.as_bytes())
        .bind(limit(size))
        .bind(nanoseconds(document.expires_at))
        .execute(connection)
        .await?;
    Ok(())
}
