//! Letting go of what can no longer matter, a little at a time.

use std::time::SystemTime;

use crate::column::{limit, nanoseconds};
use crate::database::{Database, DatabaseError};

/// Rows that one step deletes at most.
const AT_ONCE: usize = 500;

impl Database {
    /// Deletes the claims that have ended at `now`, and answers how many these were.
    ///
    /// Call it now and then, such as once a minute, from as many machines as you like: each takes what the others leave.
    /// Nothing depends on it but the size of the table.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]; calling again is safe.
    pub async fn purge(&self, now: SystemTime) -> Result<u64, DatabaseError> {
        let mut purged = 0;
        loop {
            let rows = self.purge_some(now).await?;
            purged += rows;
            if rows < AT_ONCE as u64 {
                return Ok(purged);
            }
        }
    }

    async fn purge_some(&self, now: SystemTime) -> Result<u64, DatabaseError> {
        self.run(move |pool| async move {
            let purged = sqlx::query(
                "WITH ended AS (
                     SELECT source_digest, event FROM webhook_claim
                     WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
                 )
                 DELETE FROM webhook_claim AS claim USING ended
                 WHERE claim.source_digest = ended.source_digest AND claim.event = ended.event",
            )
            .bind(nanoseconds(now))
            .bind(limit(AT_ONCE))
            .execute(&pool)
            .await?;
            Ok(purged.rows_affected())
        })
        .await
    }
}
