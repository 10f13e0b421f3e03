//! Single-use names, for replay detection (O6), in `oauth_replay`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{ReplayStore, SpendOutcome};
use sqlx::PgPool;

use crate::column::nanoseconds;
use crate::database::{Database, DatabaseError};
use crate::purge;

#[async_trait]
impl ReplayStore for Database {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        let spent = self.run(move |pool| async move { spend(&pool, &key, expires_at, now).await });
        Ok(spent.await?)
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_REPLAYS, now).await?)
    }
}

async fn spend(
    pool: &PgPool,
    key: &TokenHash,
    expires_at: SystemTime,
    now: SystemTime,
) -> Result<SpendOutcome, DatabaseError> {
    let spent = sqlx::query(
        "INSERT INTO oauth_replay (key, expires_at) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE oauth_replay.expires_at <= $3",
    )
    .bind(key.as_bytes())
    .bind(nanoseconds(expires_at))
    .bind(nanoseconds(now))
    .execute(pool)
    .await?;
    Ok(match spent.rows_affected() {
        0 => SpendOutcome::Seen,
        _ => SpendOutcome::Fresh,
    })
}
