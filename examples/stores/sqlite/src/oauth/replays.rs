//! Single-use names, for replay detection (O6), in `oauth_replay`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{ReplayStore, SpendOutcome};

use crate::column::Time;
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
        let spend = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO oauth_replay (key, expires_at) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE oauth_replay.expires_at <= ?3",
            )?;
            Ok(statement.execute((key.as_bytes(), Time(expires_at), Time(now)))?)
        });
        Ok(match spend.await? {
            0 => SpendOutcome::Seen,
            _ => SpendOutcome::Fresh,
        })
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_REPLAYS, now).await?)
    }
}
