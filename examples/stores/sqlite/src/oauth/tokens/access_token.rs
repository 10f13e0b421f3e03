//! Access tokens, in `oauth_access_token`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{AccessTokenRecord, AccessTokenState, FamilyId, Insertion, RevokeOutcome};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use super::family;
use crate::column::Time;
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::json::{Document, Json};
use crate::oauth::insertion;

pub(super) fn insert(
    transaction: &Transaction<'_>,
    token: &Document<AccessTokenRecord>,
) -> Result<Insertion, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_access_token (hash, family, expires_at, revoked_at, record) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (hash) DO NOTHING",
    )?;
    let record = &token.record;
    let rows = statement.execute((
        record.hash.as_bytes(),
        record.family.as_ref().map(FamilyId::as_bytes),
        Time(record.terms.expires_at),
        record.revoked_at.map(Time),
        &token.text,
    ))?;
    Ok(insertion(rows))
}

/// Inserts a token, in a step that fails as a whole if its hash exists.
pub(super) fn insert_new(
    transaction: &Transaction<'_>,
    token: &Document<AccessTokenRecord>,
) -> Result<(), DatabaseError> {
    match insert(transaction, token)? {
        Insertion::Inserted => Ok(()),
        _ => Err(DatabaseError::new(
            DatabaseErrorKind::Failed,
            "the hash of the access token exists already",
        )),
    }
}

pub(super) fn load(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<AccessTokenState>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT token.record, token.revoked_at, family.record, family.revocation
         FROM oauth_access_token AS token LEFT JOIN oauth_family AS family ON family.id = token.family
         WHERE token.hash = ?1",
    )?;
    let state = statement.query_row([hash.as_bytes()], |row| {
        let Json(token) = row.get(0)?;
        let token = with_revocation(token, row, 1)?;
        Ok(AccessTokenState::new(token, family::from_row(row, 2)?))
    });
    Ok(state.optional()?)
}

/// Adds the column `revoked_at` to the token.
pub(super) fn with_revocation(
    mut token: AccessTokenRecord,
    row: &Row<'_>,
    revoked_at: usize,
) -> rusqlite::Result<AccessTokenRecord> {
    token.revoked_at = row.get::<_, Option<_>>(revoked_at)?.map(|Time(at)| at);
    Ok(token)
}

/// Revokes one token; the first revocation time stays.
pub(super) fn revoke(
    transaction: &Transaction<'_>,
    hash: &TokenHash,
    now: SystemTime,
) -> Result<RevokeOutcome, DatabaseError> {
    let mut statement = transaction
        .prepare_cached("SELECT revoked_at IS NOT NULL FROM oauth_access_token WHERE hash = ?1")?;
    let found = statement.query_row([hash.as_bytes()], |row| row.get(0));
    let outcome = RevokeOutcome::decide(found.optional()?);
    if outcome == RevokeOutcome::Revoked {
        transaction
            .prepare_cached("UPDATE oauth_access_token SET revoked_at = ?2 WHERE hash = ?1")?
            .execute((hash.as_bytes(), Time(now)))?;
    }
    Ok(outcome)
}
