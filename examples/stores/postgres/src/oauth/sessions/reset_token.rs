//! Password-reset tokens in `oauth_reset_token`: one per subject, and one without a subject.

use oauth_core::secret::TokenHash;
use oauth_core::store::ResetTokenRecord;
use oauth_core::vocabulary::Subject;
use sqlx::{PgExecutor, PgPool};

use crate::column::nanoseconds;
use crate::database::DatabaseError;
use crate::json::{self, Document};
use crate::oauth::subject;

/// Stores the token and replaces the previous one of its subject.
pub(super) async fn put(pool: &PgPool, token: &Document<ResetTokenRecord>) -> Result<(), DatabaseError> {
    let record = &token.record;
    let mut transaction = subject::begin_sharing(pool, record.subject.as_ref()).await?;
    sqlx::query(
        "INSERT INTO oauth_reset_token (hash, subject, expires_at, record) VALUES ($1, $2, $3, $4)
         ON CONFLICT (subject) DO UPDATE
             SET hash = excluded.hash, expires_at = excluded.expires_at, record = excluded.record",
    )
    .bind(record.hash.as_bytes())
    // the empty string marks a token without a subject: no subject is empty
    .bind(record.subject.as_ref().map_or("", Subject::as_str))
    .bind(nanoseconds(record.expires_at))
    .bind(&token.text)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn load(
    executor: impl PgExecutor<'_>,
    hash: &TokenHash,
) -> Result<Option<ResetTokenRecord>, DatabaseError> {
    let found: Option<String> = sqlx::query_scalar("SELECT record FROM oauth_reset_token WHERE hash = $1")
        .bind(hash.as_bytes())
        .fetch_optional(executor)
        .await?;
    found.map(|text| json::record(&text)).transpose()
}
