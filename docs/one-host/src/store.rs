//! The host's pool and tables, as one store port of each crate.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use host_ports::StoreError;
use http_conventions::limits::{RateLimitStore, Spend, State, decide_all};
use oauth_core::secret::TokenHash;
use oauth_core::store::{ReplayStore, SpendOutcome};
use sqlx::PgPool;
use webhook_core::receiver::{Advance, LatestSeen, Position, ResourceKey};

use crate::store_error;

/// The host's tables.
#[derive(Clone, Debug)]
pub struct Store {
    pool: PgPool,
}

impl Store {
    /// Makes the tables in the first schema of the pool's `search_path`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the server cannot be reached, or the tables exist.
    pub async fn create(pool: PgPool) -> Result<Self, StoreError> {
        let schema = sqlx::raw_sql(include_str!("schema.sql"));
        schema.execute(&pool).await.map_err(store_error)?;
        Ok(Self { pool })
    }
}

/// Converts a time to nanoseconds since 1970, at most the year 2262.
fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[async_trait]
impl ReplayStore for Store {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        let inserted = sqlx::query(
            "INSERT INTO replay (key, expires_at) VALUES ($1, $2)
             ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE replay.expires_at <= $3",
        )
        .bind(key.as_bytes())
        .bind(nanoseconds(expires_at))
        .bind(nanoseconds(now));
        let inserted = inserted.execute(&self.pool).await.map_err(store_error)?;
        Ok(match inserted.rows_affected() {
            0 => SpendOutcome::Seen,
            _ => SpendOutcome::Fresh,
        })
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        let purge = sqlx::query("DELETE FROM replay WHERE expires_at <= $1").bind(nanoseconds(now));
        let purged = purge.execute(&self.pool).await.map_err(store_error)?;
        Ok(purged.rows_affected())
    }
}

#[async_trait]
impl LatestSeen for Store {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        // maps unsigned to signed in the same order
        let position = (position.as_u64() ^ (1 << 63)).cast_signed();
        let moved = sqlx::query(
            "INSERT INTO latest (key, position) VALUES (sha256(sha256($1) || sha256($2)), $3)
             ON CONFLICT (key) DO UPDATE SET position = excluded.position
             WHERE latest.position < excluded.position",
        )
        .bind(resource.source.as_bytes())
        .bind(resource.resource.as_str().as_bytes())
        .bind(position);
        let moved = moved.execute(&self.pool).await.map_err(store_error)?;
        if moved.rows_affected() > 0 {
            return Ok(Advance::Newer);
        }
        let latest: i64 =
            sqlx::query_scalar("SELECT position FROM latest WHERE key = sha256(sha256($1) || sha256($2))")
                .bind(resource.source.as_bytes())
                .bind(resource.resource.as_str().as_bytes())
                .fetch_one(&self.pool)
                .await
                .map_err(store_error)?;
        Ok(if latest == position {
            Advance::Same
        } else {
            Advance::Older
        })
    }
}

#[async_trait]
impl RateLimitStore for Store {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(store_error)?;
        // all callers lock the buckets in one order, so that none deadlocks
        let mut order: Vec<_> = (0..).zip(spends).collect();
        order.sort_unstable_by_key(|(_, spend)| spend.bucket());
        let mut states: Vec<(usize, State)> = Vec::with_capacity(spends.len());
        for (place, spend) in order {
            let full_at: i64 = sqlx::query_scalar(
                "INSERT INTO bucket (key, full_at) VALUES ($1, 0)
                 ON CONFLICT (key) DO UPDATE SET full_at = bucket.full_at RETURNING full_at",
            )
            .bind(&spend.bucket().as_bytes()[..])
            .fetch_one(&mut *transaction)
            .await
            .map_err(store_error)?;
            let full_at = u64::try_from(full_at).map_err(StoreError::corrupt)?;
            states.push((place, State::from_nanoseconds(full_at)));
        }
        states.sort_unstable_by_key(|(place, _)| *place);
        let states: Vec<State> = states.into_iter().map(|(_, state)| state).collect();
        for (spend, after) in spends
            .iter()
            .zip(decide_all(&states, spends, now).unwrap_or_default())
        {
            let full_at = i64::try_from(after.as_nanoseconds()).unwrap_or(i64::MAX);
            sqlx::query("UPDATE bucket SET full_at = $2 WHERE key = $1")
                .bind(&spend.bucket().as_bytes()[..])
                .bind(full_at)
                .execute(&mut *transaction)
                .await
                .map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(states)
    }
}

#[async_trait]
impl PersistedStore for Store {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let found = sqlx::query_scalar("SELECT text FROM query WHERE hash = $1 AND $2 < expires_at")
            .bind(&hash.as_bytes()[..])
            .bind(nanoseconds(now));
        let found: Option<Vec<u8>> = found.fetch_optional(&self.pool).await.map_err(store_error)?;
        let text = found.map(|bytes| String::from_utf8(bytes).map(Arc::from));
        text.transpose()
            .map_err(|error| StoreError::corrupt(error.utf8_error()))
    }

    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        let kept = sqlx::query(
            "INSERT INTO query (hash, text, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT (hash) DO UPDATE SET text = excluded.text, expires_at = excluded.expires_at
             WHERE query.expires_at <= $4",
        )
        .bind(&document.hash.as_bytes()[..])
        .bind(document.text.as_bytes())
        .bind(nanoseconds(document.expires_at))
        .bind(nanoseconds(now));
        let kept = kept.execute(&self.pool).await.map_err(store_error)?;
        if kept.rows_affected() > 0 {
            return Ok(KeepOutcome::New);
        }
        let prolong = sqlx::query("UPDATE query SET expires_at = greatest(expires_at, $2) WHERE hash = $1")
            .bind(&document.hash.as_bytes()[..])
            .bind(nanoseconds(document.expires_at));
        prolong.execute(&self.pool).await.map_err(store_error)?;
        Ok(KeepOutcome::Known)
    }
}
