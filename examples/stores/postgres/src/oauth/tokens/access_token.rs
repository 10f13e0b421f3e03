//! Access tokens, in `oauth_access_token`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{AccessTokenRecord, AccessTokenState, FamilyId, Insertion, RevokeOutcome};
use sqlx::{PgExecutor, PgPool};

use super::family;
use crate::column::{nanoseconds, time};
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::json::{self, Document};
use crate::oauth::insertion;

pub(super) async fn insert(
    executor: impl PgExecutor<'_>,
    token: &Document<AccessTokenRecord>,
) -> Result<Insertion, DatabaseError> {
    let record = &token.record;
    let inserted = sqlx::query(
        "INSERT INTO oauth_access_token (hash, family, expires_at, revoked_at, record) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (hash) DO NOTHING",
    )
    .bind(record.hash.as_bytes())
    .bind(record.family.as_ref().map(FamilyId::as_bytes))
    .bind(nanoseconds(record.terms.expires_at))
    .bind(record.revoked_at.map(nanoseconds))
    .bind(&token.text)
    .execute(executor)
    .await?;
    Ok(insertion(&inserted))
}

/// Inserts a token, in a step that fails as a whole if its hash exists.
pub(super) async fn insert_new(
    executor: impl PgExecutor<'_>,
    token: &Document<AccessTokenRecord>,
) -> Result<(), DatabaseError> {
    match insert(executor, token).await? {
        Insertion::Inserted => Ok(()),
        _ => Err(DatabaseError::new(
            DatabaseErrorKind::Failed,
            "the hash of the access token exists already",
        )),
    }
}

type Columns = (String, Option<i64>, Option<String>, Option<String>);

pub(super) async fn load(pool: &PgPool, hash: &TokenHash) -> Result<Option<AccessTokenState>, DatabaseError> {
    let found: Option<Columns> = sqlx::query_as(
        "SELECT token.record, token.revoked_at, family.record, family.revocation
         FROM oauth_access_token AS token LEFT JOIN oauth_family AS family ON family.id = token.family
         WHERE token.hash = $1",
    )
    .bind(hash.as_bytes())
    .fetch_optional(pool)
    .await?;
    found.map(state).transpose()
}

fn state((token, revoked_at, family, revocation): Columns) -> Result<AccessTokenState, DatabaseError> {
    let token = from_columns(&token, revoked_at)?;
    let family = family.map(|family| family::from_columns(&family, revocation.as_deref()));
    Ok(AccessTokenState::new(token, family.transpose()?))
}

/// Reads a token from the columns `record` and `revoked_at`.
pub(super) fn from_columns(
    record: &str,
    revoked_at: Option<i64>,
) -> Result<AccessTokenRecord, DatabaseError> {
    let mut token: AccessTokenRecord = json::record(record)?;
    token.revoked_at = revoked_at.map(time).transpose()?;
    Ok(token)
}

/// Revokes one token, or finds why not; the first revocation time stays.
pub(super) async fn revoke(
    pool: &PgPool,
    hash: &TokenHash,
    now: SystemTime,
) -> Result<RevokeOutcome, DatabaseError> {
    loop {
        let revoked = sqlx::query(
            "UPDATE oauth_access_token SET revoked_at = $2 WHERE hash = $1 AND revoked_at IS NULL",
        )
        .bind(hash.as_bytes())
        .bind(nanoseconds(now))
        .execute(pool)
        .await?;
        if revoked.rows_affected() > 0 {
            return Ok(RevokeOutcome::Revoked);
        }
        let found: Option<bool> =
            sqlx::query_scalar("SELECT revoked_at IS NOT NULL FROM oauth_access_token WHERE hash = $1")
                .bind(hash.as_bytes())
                .fetch_optional(pool)
                .await?;
        match RevokeOutcome::decide(found) {
            // inserted between the two statements
            RevokeOutcome::Revoked => {}
            refused => return Ok(refused),
        }
    }
}
