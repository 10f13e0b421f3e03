//! Refresh tokens in `oauth_refresh_token`: the live leaf of each token family, and its tombstones,
//! which are rotated tokens kept to detect reuse.

use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AccessTokenRecord, RefreshTokenRecord, RefreshTokenSnapshot, RefreshTokenState, RotateOutcome, Rotated,
    RotationSalt, Successor,
};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgPool, Row as _};

use super::{access_token, family};
use crate::column::{nanoseconds, time};
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::json::{self, Document};

pub(super) async fn insert(
    connection: &mut PgConnection,
    token: &Document<RefreshTokenRecord>,
) -> Result<(), DatabaseError> {
    let record = &token.record;
    let rotated = record.rotated.as_ref();
    sqlx::query(
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, rotated_at, successor, access_token, salt, record)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(record.hash.as_bytes())
    .bind(record.family.as_bytes())
    .bind(nanoseconds(record.expires_at))
    .bind(rotated.map(|rotated| nanoseconds(rotated.at)))
    .bind(rotated.map(|rotated| rotated.successor.as_bytes()))
    .bind(rotated.map(|rotated| rotated.access.as_bytes()))
    .bind(rotated.and_then(|rotated| rotated.salt.as_ref().map(RotationSalt::as_bytes)))
    .bind(&token.text)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn load(
    pool: &PgPool,
    hash: &TokenHash,
) -> Result<Option<RefreshTokenState>, DatabaseError> {
    let found = sqlx::query(
        "SELECT token.record, token.rotated_at, token.successor, token.access_token, token.salt,
                family.record, family.revocation,
                successor.record, successor.rotated_at, successor.successor, successor.access_token, successor.salt,
                access.record, access.revoked_at
         FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
              LEFT JOIN oauth_refresh_token AS successor ON successor.hash = token.successor
              LEFT JOIN oauth_access_token AS access ON access.hash = token.access_token
         WHERE token.hash = $1",
    )
    .bind(hash.as_bytes())
    .fetch_optional(pool)
    .await?;
    Ok(found.as_ref().map(state).transpose()?.flatten())
}

fn state(row: &PgRow) -> Result<Option<RefreshTokenState>, DatabaseError> {
    let Some(token) = from_row(row, 0)? else {
        return Ok(None);
    };
    let family = family::from_columns(row.try_get(5)?, row.try_get(6)?)?;
    Ok(Some(
        RefreshTokenState::new(token, family).with_successor(successor(row)?),
    ))
}

/// Tokens that a rotation issued, while both are kept.
fn successor(row: &PgRow) -> Result<Option<Successor>, DatabaseError> {
    let (Some(refresh), Some(access)) = (from_row(row, 7)?, row.try_get(12)?) else {
        return Ok(None);
    };
    let access = access_token::from_columns(access, row.try_get(13)?)?;
    Ok(Some(Successor::new(refresh, access)))
}

/// Reads the token in the columns `record`, `rotated_at`, `successor`, `access_token` and `salt`
/// from index `first` on; `None` if they are null.
fn from_row(row: &PgRow, first: usize) -> Result<Option<RefreshTokenRecord>, DatabaseError> {
    let Some(record) = row.try_get(first)? else {
        return Ok(None);
    };
    let mut token: RefreshTokenRecord = json::record(record)?;
    token.rotated = match row.try_get(first + 1)? {
        None => None,
        Some(at) => {
            let hash = |column| row.try_get(column).map(TokenHash::from_bytes);
            let salt: Option<[u8; 16]> = row.try_get(first + 4)?;
            let rotated = Rotated::new(time(at)?, hash(first + 2)?, hash(first + 3)?);
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

/// Replaces the presented token by its successor, the new leaf, in one statement.
///
/// Rotations and revocations of one family are serialized by the lock of its row. The update takes
/// only a token that was not rotated, so it sees the outcome of the operation before.
pub(super) async fn rotate(pool: &PgPool, step: &Step) -> Result<RotateOutcome, DatabaseError> {
    let (refresh_token, access_token) = (&step.successor.record, &step.access.record);
    let standing: Option<(bool, bool, bool, i64, bool)> = sqlx::query_as(
        "WITH standing AS MATERIALIZED (
             SELECT family.id = $4 AS same_family, family.revocation IS NOT NULL AS revoked,
                    token.rotated_at IS NOT NULL AS rotated,
                    least(token.expires_at, family.expires_at) AS ends_at
             FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
             WHERE token.hash = $1 FOR NO KEY UPDATE OF family
         ), rotated AS (
             UPDATE oauth_refresh_token AS token
             SET rotated_at = $2, successor = $3, access_token = $7, salt = $11 FROM standing
             WHERE token.hash = $1 AND token.rotated_at IS NULL AND NOT revoked AND ends_at > $2 AND same_family
             RETURNING token.family
         ), successor AS (
             INSERT INTO oauth_refresh_token (hash, family, expires_at, record)
             SELECT $3, family, $5, $6 FROM rotated
         ), access AS (
             INSERT INTO oauth_access_token (hash, family, expires_at, record)
             SELECT $7, $8, $9, $10 FROM rotated
         )
         SELECT same_family, revoked, rotated, ends_at, EXISTS (SELECT FROM rotated) FROM standing",
    )
    .bind(step.presented.as_bytes())
    .bind(nanoseconds(step.rotated.at))
    .bind(refresh_token.hash.as_bytes())
    .bind(refresh_token.family.as_bytes())
    .bind(nanoseconds(refresh_token.expires_at))
    .bind(&step.successor.text)
    .bind(access_token.hash.as_bytes())
    .bind(access_token.family.as_ref().map(|family| &family.as_bytes()[..]))
    .bind(nanoseconds(access_token.terms.expires_at))
    .bind(&step.access.text)
    .bind(step.rotated.salt.as_ref().map(RotationSalt::as_bytes))
    .fetch_optional(pool)
    .await?;
    let Some((same_family, is_family_revoked, is_rotated, ends_at, done)) = standing else {
        return Ok(RotateOutcome::decide(None, step.rotated.at));
    };
    if done {
        return Ok(RotateOutcome::Rotated);
    }
    let snapshot = RefreshTokenSnapshot {
        is_family_revoked,
        is_rotated,
        expires_at: time(ends_at)?,
    };
    match RotateOutcome::decide(Some(snapshot), step.rotated.at) {
        // rotated by the operation that held the family's row until now
        RotateOutcome::Rotated if same_family => Ok(RotateOutcome::Superseded),
        RotateOutcome::Rotated => {
            let reason = "the successor belongs to another family";
            Err(DatabaseError::new(DatabaseErrorKind::Failed, reason))
        }
        refused => Ok(refused),
    }
}
