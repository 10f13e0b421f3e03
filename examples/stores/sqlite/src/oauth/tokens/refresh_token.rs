//! Refresh tokens in `oauth_refresh_token`: the live leaf of each token family, and its tombstones,
//! which are rotated tokens kept to detect reuse.

use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AccessTokenRecord, FamilyId, RefreshTokenRecord, RefreshTokenSnapshot, RefreshTokenState, RotateOutcome,
    Rotated, RotationSalt, Successor,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use super::{access_token, family};
use crate::column::Time;
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::json::{Document, Json};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    token: &Document<RefreshTokenRecord>,
) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, rotated_at, successor, access_token, salt, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let record = &token.record;
    let rotated = record.rotated.as_ref();
    statement.execute((
        record.hash.as_bytes(),
        record.family.as_bytes(),
        Time(record.expires_at),
        rotated.map(|rotated| Time(rotated.at)),
        rotated.map(|rotated| rotated.successor.as_bytes()),
        rotated.map(|rotated| rotated.access.as_bytes()),
        rotated.and_then(|rotated| rotated.salt.as_ref().map(RotationSalt::as_bytes)),
        &token.text,
    ))?;
    Ok(())
}

pub(super) fn load(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<RefreshTokenState>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT token.record, token.rotated_at, token.successor, token.access_token, token.salt,
                family.record, family.revocation,
                successor.record, successor.rotated_at, successor.successor, successor.access_token, successor.salt,
                access.record, access.revoked_at
         FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
              LEFT JOIN oauth_refresh_token AS successor ON successor.hash = token.successor
              LEFT JOIN oauth_access_token AS access ON access.hash = token.access_token
         WHERE token.hash = ?1",
    )?;
    let state = statement.query_row([hash.as_bytes()], |row| {
        let (Some(token), Some(family)) = (from_row(row, 0)?, family::from_row(row, 5)?) else {
            return Ok(None);
        };
        Ok(Some(
            RefreshTokenState::new(token, family).with_successor(successor(row)?),
        ))
    });
    Ok(state.optional()?.flatten())
}

/// Tokens that a rotation issued, while both are kept.
fn successor(row: &Row<'_>) -> rusqlite::Result<Option<Successor>> {
    let (Some(refresh), Some(Json(access))) = (from_row(row, 7)?, row.get(12)?) else {
        return Ok(None);
    };
    let access = access_token::with_revocation(access, row, 13)?;
    Ok(Some(Successor::new(refresh, access)))
}

/// Reads the token in the columns `record`, `rotated_at`, `successor`, `access_token` and `salt`
/// from index `first` on; `None` if they are null.
fn from_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<RefreshTokenRecord>> {
    let Some(Json(mut token)): Option<Json<RefreshTokenRecord>> = row.get(first)? else {
        return Ok(None);
    };
    token.rotated = match row.get(first + 1)? {
        None => None,
        Some(Time(at)) => {
            let hash = |column| row.get(column).map(TokenHash::from_bytes);
            let salt = row.get::<_, Option<_>>(first + 4)?;
            let rotated = Rotated::new(at, hash(first + 2)?, hash(first + 3)?);
            Some(rotated.with_salt(salt.map(RotationSalt::from_bytes)))
        }
    };
    Ok(Some(token))
}

/// The rows of a rotation.
pub(super) struct Step {
    pub(super) presented: TokenHash,
    pub(super) rotated: Rotated,
    pub(super) successor: Document<RefreshTokenRecord>,
    pub(super) access: Document<AccessTokenRecord>,
}

/// Replaces the presented token by its successor, the new leaf.
pub(super) fn rotate(transaction: &Transaction<'_>, step: &Step) -> Result<RotateOutcome, DatabaseError> {
    let found = snapshot(transaction, &step.presented)?;
    let outcome = RotateOutcome::decide(found.map(|(_, token)| token), step.rotated.at);
    if outcome != RotateOutcome::Rotated {
        return Ok(outcome);
    }
    if found.is_some_and(|(family, _)| family != step.successor.record.family) {
        let reason = "the successor belongs to another family";
        return Err(DatabaseError::new(DatabaseErrorKind::Failed, reason));
    }
    let mut statement = transaction.prepare_cached(
        "UPDATE oauth_refresh_token SET rotated_at = ?2, successor = ?3, access_token = ?4, salt = ?5
         WHERE hash = ?1",
    )?;
    statement.execute((
        step.presented.as_bytes(),
        Time(step.rotated.at),
        step.rotated.successor.as_bytes(),
        step.rotated.access.as_bytes(),
        step.rotated.salt.as_ref().map(RotationSalt::as_bytes),
    ))?;
    insert(transaction, &step.successor)?;
    access_token::insert_new(transaction, &step.access)?;
    Ok(RotateOutcome::Rotated)
}

/// The token's family, and the parts of both that decide whether the token can be rotated.
fn snapshot(
    transaction: &Transaction<'_>,
    hash: &TokenHash,
) -> Result<Option<(FamilyId, RefreshTokenSnapshot)>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT family.id, family.revocation IS NOT NULL, token.rotated_at IS NOT NULL,
                min(token.expires_at, family.expires_at)
         FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
         WHERE token.hash = ?1",
    )?;
    let found = statement.query_row([hash.as_bytes()], |row| {
        let Time(expires_at) = row.get(3)?;
        let snapshot = RefreshTokenSnapshot {
            is_family_revoked: row.get(1)?,
            is_rotated: row.get(2)?,
            expires_at,
        };
        Ok((FamilyId::from_bytes(row.get(0)?), snapshot))
    });
    Ok(found.optional()?)
}
