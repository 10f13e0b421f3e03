//! Deletes expired rows in small steps.

use std::time::SystemTime;

use crate::column::{Time, limit};
use crate::database::{Database, DatabaseError};

/// Limit of rows that one step deletes, so that the writer is free soon.
const AT_ONCE: usize = 500;

#[cfg(feature = "oauth")]
const CODES: &str = "DELETE FROM oauth_code WHERE rowid IN (
    SELECT rowid FROM oauth_code WHERE purge_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const ACCESS_TOKENS: &str = "DELETE FROM oauth_access_token WHERE rowid IN (
    SELECT rowid FROM oauth_access_token WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const REFRESH_TOKENS: &str = "DELETE FROM oauth_refresh_token WHERE rowid IN (
    SELECT token.rowid
    FROM oauth_family AS family JOIN oauth_refresh_token AS token ON token.family = family.id
    WHERE family.retain_until <= ?1 LIMIT ?2)";

/// Runs after [`REFRESH_TOKENS`]: a family is deleted after its last refresh token.
#[cfg(feature = "oauth")]
const FAMILIES: &str = "DELETE FROM oauth_family WHERE rowid IN (
    SELECT rowid FROM oauth_family AS family
    WHERE retain_until <= ?1 AND NOT EXISTS (SELECT 1 FROM oauth_refresh_token WHERE family = family.id)
    LIMIT ?2)";

#[cfg(feature = "oauth")]
const INTERACTIONS: &str = "DELETE FROM oauth_interaction WHERE rowid IN (
    SELECT rowid FROM oauth_interaction WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const SESSIONS: &str = "DELETE FROM oauth_session WHERE rowid IN (
    SELECT rowid FROM oauth_session WHERE active_until <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const RESET_TOKENS: &str = "DELETE FROM oauth_reset_token WHERE rowid IN (
    SELECT rowid FROM oauth_reset_token WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const LOGOUTS: &str = "DELETE FROM oauth_logout WHERE (session, client_id) IN (
    SELECT session, client_id FROM oauth_logout WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const PUSHED_REQUESTS: &str = "DELETE FROM oauth_pushed_request WHERE rowid IN (
    SELECT rowid FROM oauth_pushed_request WHERE retain_until <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const REPLAYS: &str = "DELETE FROM oauth_replay WHERE rowid IN (
    SELECT rowid FROM oauth_replay WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
const ATTEMPTS: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE forgotten_at <= ?1 LIMIT ?2)";

#[cfg(feature = "conventions")]
const IDEMPOTENCY_RECORDS: &str = "DELETE FROM idempotency_record WHERE rowid IN (
    SELECT rowid FROM idempotency_record WHERE expires_at <= ?1 LIMIT ?2)";

/// Five minutes after the bucket is full, for machines whose clock is behind.
#[cfg(feature = "conventions")]
const BUCKETS: &str = "DELETE FROM rate_limit_bucket WHERE key IN (
    SELECT key FROM rate_limit_bucket WHERE full_at <= ?1 - 300000000000 LIMIT ?2)";

#[cfg(feature = "graph")]
const DOCUMENTS: &str = "DELETE FROM graph_document WHERE rowid IN (
    SELECT rowid FROM graph_document WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "webhooks")]
const CLAIMS: &str = "DELETE FROM webhook_claim WHERE (source, event) IN (
    SELECT source, event FROM webhook_claim WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "webhooks")]
const HANDLING: &str = "DELETE FROM webhook_handling WHERE (source, event) IN (
    SELECT source, event FROM webhook_handling WHERE expires_at <= ?1 LIMIT ?2)";

#[cfg(feature = "oauth")]
pub(crate) const OF_TOKENS: &[&str] = &[CODES, ACCESS_TOKENS, REFRESH_TOKENS, FAMILIES];
#[cfg(feature = "oauth")]
pub(crate) const OF_INTERACTIONS: &[&str] = &[INTERACTIONS, PUSHED_REQUESTS];
#[cfg(feature = "oauth")]
pub(crate) const OF_ATTEMPTS: &[&str] = &[ATTEMPTS];
#[cfg(feature = "oauth")]
pub(crate) const OF_REPLAYS: &[&str] = &[REPLAYS];
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
    /// Deletes all rows that are expired at `now`; returns their number.
    ///
    /// # Contract
    ///
    /// - Call it periodically, for example once a minute.
    /// - It bounds the size of the file and changes no result: expired rows are never returned.
    /// - Registered clients, endpoints, events, deliveries and their log stay until the host
    ///   deletes them (`Retention::purge` deletes old events with their deliveries).
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]; calling again is safe.
    pub async fn purge(&self, now: SystemTime) -> Result<u64, DatabaseError> {
        self.purge_by(&OF_EVERYTHING.concat(), now).await
    }

    /// Runs each statement, a `DELETE` of at most `?2` rows that are expired at `?1`, until none is
    /// left.
    ///
    /// Each batch is a step of its own, so that other operations can write in between.
    pub(crate) async fn purge_by(
        &self,
        statements: &[&'static str],
        now: SystemTime,
    ) -> Result<u64, DatabaseError> {
        let mut purged = 0;
        for statement in statements.iter().copied() {
            loop {
                let batch = self.write(move |transaction| -> Result<usize, DatabaseError> {
                    Ok(transaction
                        .prepare_cached(statement)?
                        .execute((Time(now), limit(AT_ONCE)))?)
                });
                let rows = batch.await?;
                purged += rows as u64;
                if rows < AT_ONCE {
                    break;
                }
            }
        }
        Ok(purged)
    }
}
