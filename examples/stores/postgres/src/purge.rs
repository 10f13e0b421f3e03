//! Deletes expired rows in small steps.

use std::time::SystemTime;

use crate::column::{limit, nanoseconds};
use crate::database::{Database, DatabaseError};
#[cfg(feature = "oauth")]
use crate::oauth::MOST_ATTEMPTS;

/// Limit of rows that one step deletes.
const AT_ONCE: usize = 500;

/// Deletes rows of a table under a condition, without those that are locked.
macro_rules! delete {
    ($table:literal, $condition:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE ctid = ANY(ARRAY(
             SELECT ctid FROM ",
            $table,
            " WHERE ",
            $condition,
            " LIMIT $2 FOR UPDATE SKIP LOCKED))"
        )
    };
}

#[cfg(feature = "oauth")]
const CODES: &str = delete!("oauth_code", "purge_at <= $1");

#[cfg(feature = "oauth")]
const ACCESS_TOKENS: &str = delete!("oauth_access_token", "expires_at <= $1");

#[cfg(feature = "oauth")]
const REFRESH_TOKENS: &str = "DELETE FROM oauth_refresh_token WHERE ctid = ANY(ARRAY(
     SELECT token.ctid
     FROM oauth_family AS family JOIN oauth_refresh_token AS token ON token.family = family.id
     WHERE family.retain_until <= $1 LIMIT $2 FOR UPDATE OF token SKIP LOCKED))";

/// Runs after [`REFRESH_TOKENS`]: a family is deleted after its last refresh token.
#[cfg(feature = "oauth")]
const FAMILIES: &str = delete!(
    "oauth_family",
    "retain_until <= $1 AND NOT EXISTS (SELECT FROM oauth_refresh_token WHERE family = oauth_family.id)"
);

#[cfg(feature = "oauth")]
const INTERACTIONS: &str = delete!("oauth_interaction", "expires_at <= $1");

#[cfg(feature = "oauth")]
const PUSHED_REQUESTS: &str = delete!("oauth_pushed_request", "retain_until <= $1");

#[cfg(feature = "oauth")]
const REPLAYS: &str = delete!("oauth_replay", "expires_at <= $1");

#[cfg(feature = "oauth")]
const ATTEMPTS: &str = delete!("oauth_attempt", "forgotten_at <= $1");

#[cfg(feature = "oauth")]
const SESSIONS: &str = delete!("oauth_session", "active_until <= $1");

#[cfg(feature = "oauth")]
const RESET_TOKENS: &str = delete!("oauth_reset_token", "expires_at <= $1");

#[cfg(feature = "oauth")]
const LOGOUTS: &str = delete!("oauth_logout", "expires_at <= $1");

#[cfg(feature = "conventions")]
const IDEMPOTENCY_RECORDS: &str = delete!("idempotency_record", "expires_at <= $1");

/// Five minutes after the bucket is full, for machines whose clock is behind.
#[cfg(feature = "conventions")]
const BUCKETS: &str = delete!("rate_limit_bucket", "full_at <= $1 - 300000000000");

#[cfg(feature = "graph")]
const DOCUMENTS: &str = delete!("graph_document", "expires_at <= $1");

#[cfg(feature = "webhooks")]
const CLAIMS: &str = delete!("webhook_claim", "expires_at <= $1");

#[cfg(feature = "webhooks")]
const HANDLING: &str = delete!("webhook_handling", "expires_at <= $1");

#[cfg(feature = "oauth")]
pub(crate) const OF_TOKENS: &[&str] = &[CODES, ACCESS_TOKENS, REFRESH_TOKENS, FAMILIES];
#[cfg(feature = "oauth")]
pub(crate) const OF_INTERACTIONS: &[&str] = &[INTERACTIONS, PUSHED_REQUESTS];
#[cfg(feature = "oauth")]
pub(crate) const OF_REPLAYS: &[&str] = &[REPLAYS];
#[cfg(feature = "oauth")]
pub(crate) const OF_ATTEMPTS: &[&str] = &[ATTEMPTS];
#[cfg(feature = "oauth")]
pub(crate) const OF_SESSIONS: &[&str] = &[SESSIONS, RESET_TOKENS, LOGOUTS];
const OF_EVERYTHING: &[&[&str]] = &[
    #[cfg(feature = "oauth")]
    OF_TOKENS,
    #[cfg(feature = "oauth")]
    OF_INTERACTIONS,
    #[cfg(feature = "oauth")]
    OF_REPLAYS,
    #[cfg(feature = "oauth")]
    OF_ATTEMPTS,
    #[cfg(feature = "oauth")]
    OF_SESSIONS,
    #[cfg(feature = "conventions")]
    &[IDEMPOTENCY_RECORDS, BUCKETS],
    #[cfg(feature = "graph")]
    &[DOCUMENTS],
    #[cfg(feature = "webhooks")]
    &[CLAIMS, HANDLING],
];

impl Database {
    /// Deletes all rows that are expired at `now`; returns their number. With feature `oauth` it
    /// also trims the counted attempts to a million names (`Database::trim_attempts`).
    ///
    /// # Contract
    ///
    /// - Call it periodically, for example once a minute, from any number of machines: locked rows
    ///   are skipped.
    /// - It bounds the size of the tables and changes no result: expired rows are never returned.
    /// - Registered clients, endpoints, events, deliveries and their log stay until the host
    ///   deletes them (`Retention::purge` deletes old events with their deliveries).
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]; calling again is safe.
    pub async fn purge(&self, now: SystemTime) -> Result<u64, DatabaseError> {
        let purged = self.purge_by(&OF_EVERYTHING.concat(), now).await?;
        #[cfg(feature = "oauth")]
        let purged = purged + self.trim_attempts(MOST_ATTEMPTS, now).await?;
        Ok(purged)
    }

    /// Runs each statement, a `DELETE` of at most `$2` rows that are expired at `$1`, until none is
    /// left.
    pub(crate) async fn purge_by(
        &self,
        statements: &[&'static str],
        now: SystemTime,
    ) -> Result<u64, DatabaseError> {
        let mut purged = 0;
        for statement in statements.iter().copied() {
            loop {
                let rows = self.purge_some(statement, now).await?;
                purged += rows;
                if rows < AT_ONCE as u64 {
                    break;
                }
            }
        }
        Ok(purged)
    }

    async fn purge_some(&self, statement: &'static str, now: SystemTime) -> Result<u64, DatabaseError> {
        self.run_long(move |pool| async move {
            let purged = sqlx::query(statement)
                .bind(nanoseconds(now))
                .bind(limit(AT_ONCE))
                .execute(&pool)
                .await?;
            Ok(purged.rows_affected())
        })
        .await
    }
}
