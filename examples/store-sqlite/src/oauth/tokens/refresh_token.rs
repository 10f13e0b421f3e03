//! Refresh tokens, the live leaf of each family and the tombstones behind it, in `oauth_refresh_token`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{AccessTokenRecord, FamilyId, RefreshTokenRecord, RefreshTokenState, RotateOutcome};
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::{access_token, family};
use crate::column::Time;
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::json::{Document, Json};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    token: &Document<RefreshTokenRecord>,
) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, rotated_at, record) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let record = &token.record;
    statement.execute((
        record.hash.as_bytes(),
        record.family.as_bytes(),
        Time(record.expires_at),
        record.rotated_at.map(Time),
        &token.text,
    ))?;
    Ok(())
}

pub(super) fn load(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<RefreshTokenState>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT token.record, token.rotated_at, family.record, family.revocation
         FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
         WHERE token.hash = ?1",
    )?;
    let state = statement.query_row([hash.as_bytes()], |row| {
        let Json(mut token): Json<RefreshTokenRecord> = row.get(0)?;
        token.rotated_at = row.get::<_, Option<_>>(1)?.map(|Time(at)| at);
        Ok(family::from_row(row, 2)?.map(|family| RefreshTokenState::new(token, family)))
    });
    Ok(state.optional()?.flatten())
}

/// Exchanges the presented token for `successor`, which becomes the leaf.
pub(super) fn rotate(
    transaction: &Transaction<'_>,
    presented: &TokenHash,
    (successor, access): (&Document<RefreshTokenRecord>, &Document<AccessTokenRecord>),
    now: SystemTime,
) -> Result<RotateOutcome, DatabaseError> {
    let Some(leaf) = Standing::of(transaction, presented)? else {
        return Ok(RotateOutcome::NotFound);
    };
    if leaf.is_family_revoked {
        return Ok(RotateOutcome::FamilyRevoked);
    }
    if leaf.is_rotated {
        return Ok(RotateOutcome::Superseded);
    }
    if leaf.expires_at <= now {
        return Ok(RotateOutcome::Expired);
    }
    if leaf.family != successor.record.family {
        let reason = "the successor belongs to another family";
        return Err(DatabaseError::new(DatabaseErrorKind::Failed, reason));
    }
    transaction
        .prepare_cached("UPDATE oauth_refresh_token SET rotated_at = ?2 WHERE hash = ?1")?
        .execute((presented.as_bytes(), Time(now)))?;
    insert(transaction, successor)?;
    access_token::insert_new(transaction, access)?;
    Ok(RotateOutcome::Rotated)
}

/// What decides whether a token can be rotated.
struct Standing {
    family: FamilyId,
    is_family_revoked: bool,
    is_rotated: bool,
    expires_at: SystemTime,
}

impl Standing {
    fn of(transaction: &Transaction<'_>, hash: &TokenHash) -> Result<Option<Self>, DatabaseError> {
        let mut statement = transaction.prepare_cached(
            "SELECT family.id, family.revocation IS NOT NULL, token.rotated_at IS NOT NULL,
                    min(token.expires_at, family.expires_at)
             FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
             WHERE token.hash = ?1",
        )?;
        let standing = statement.query_row([hash.as_bytes()], |row| {
            let Time(expires_at) = row.get(3)?;
            Ok(Self {
                family: FamilyId::from_bytes(row.get(0)?),
                is_family_revoked: row.get(1)?,
                is_rotated: row.get(2)?,
                expires_at,
            })
        });
        Ok(standing.optional()?)
    }
}
