//! Refresh tokens, the live leaf of each family and the tombstones behind it, in `oauth_refresh_token`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{AccessTokenRecord, RefreshTokenRecord, RefreshTokenState, RotateOutcome};
use sqlx::{PgConnection, PgPool};

use super::family;
use crate::column::{nanoseconds, time};
use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::json::{self, Document};

pub(super) async fn insert(
    connection: &mut PgConnection,
    token: &Document<RefreshTokenRecord>,
) -> Result<(), DatabaseError> {
    let record = &token.record;
    sqlx::query(
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, rotated_at, record) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(record.hash.as_bytes())
    .bind(record.family.as_bytes())
    .bind(nanoseconds(record.expires_at))
    .bind(record.rotated_at.map(nanoseconds))
    .bind(&token.text)
    .execute(connection)
    .await?;
    Ok(())
}

type Columns = (String, Option<i64>, String, Option<String>);

pub(super) async fn load(
    pool: &PgPool,
    hash: &TokenHash,
) -> Result<Option<RefreshTokenState>, DatabaseError> {
    let found: Option<Columns> = sqlx::query_as(
        "SELECT token.record, token.rotated_at, family.record, family.revocation
         FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
         WHERE token.hash = $1",
    )
    .bind(hash.as_bytes())
    .fetch_optional(pool)
    .await?;
    found.map(state).transpose()
}

fn state((token, rotated_at, family, revocation): Columns) -> Result<RefreshTokenState, DatabaseError> {
    let mut token: RefreshTokenRecord = json::record(&token)?;
    token.rotated_at = rotated_at.map(time).transpose()?;
    let family = family::from_columns(&family, revocation.as_deref())?;
    Ok(RefreshTokenState::new(token, family))
}

/// Exchanges the presented token for `successor`, which becomes the leaf, in one statement.
///
/// Rotations and revocations of one family happen one after the other, because each holds its row; what the one before made of the
/// token shows in the update, which takes only what was not rotated.
pub(super) async fn rotate(
    pool: &PgPool,
    presented: &TokenHash,
    (successor, access): (&Document<RefreshTokenRecord>, &Document<AccessTokenRecord>),
    now: SystemTime,
) -> Result<RotateOutcome, DatabaseError> {
    let (refresh_token, access_token) = (&successor.record, &access.record);
    let standing: Option<(bool, bool, bool, bool, bool)> = sqlx::query_as(
        "WITH standing AS MATERIALIZED (
             SELECT family.id = $4 AS same_family, family.revocation IS NOT NULL AS revoked,
                    token.rotated_at IS NOT NULL AS rotated,
                    least(token.expires_at, family.expires_at) <= $2 AS expired
             FROM oauth_refresh_token AS token JOIN oauth_family AS family ON family.id = token.family
             WHERE token.hash = $1 FOR NO KEY UPDATE OF family
         ), rotated AS (
             UPDATE oauth_refresh_token AS token SET rotated_at = $2 FROM standing
             WHERE token.hash = $1 AND token.rotated_at IS NULL AND NOT revoked AND NOT expired AND same_family
             RETURNING token.family
         ), successor AS (
             INSERT INTO oauth_refresh_token (hash, family, expires_at, record)
             SELECT $3, family, $5, $6 FROM rotated
         ), access AS (
             INSERT INTO oauth_access_token (hash, family, expires_at, record)
             SELECT $7, $8, $9, $10 FROM rotated
         )
         SELECT same_family, revoked, rotated, expired, EXISTS (SELECT FROM rotated) FROM standing",
    )
    .bind(presented.as_bytes())
    .bind(nanoseconds(now))
    .bind(refresh_token.hash.as_bytes())
    .bind(refresh_token.family.as_bytes())
    .bind(nanoseconds(refresh_token.expires_at))
    .bind(&successor.text)
    .bind(access_token.hash.as_bytes())
    .bind(access_token.family.as_ref().map(|family| &family.as_bytes()[..]))
    .bind(nanoseconds(access_token.expires_at))
    .bind(&access.text)
    .fetch_optional(pool)
    .await?;
    let Some((same_family, is_revoked, is_rotated, is_expired, done)) = standing else {
        return Ok(RotateOutcome::NotFound);
    };
    if done {
        Ok(RotateOutcome::Rotated)
    } else if is_revoked {
        Ok(RotateOutcome::FamilyRevoked)
    } else if is_rotated {
        Ok(RotateOutcome::Superseded)
    } else if is_expired {
        Ok(RotateOutcome::Expired)
    } else if same_family {
        // by the one that held the family's row until now
        Ok(RotateOutcome::Superseded)
    } else {
        let reason = "the successor belongs to another family";
        Err(DatabaseError::new(DatabaseErrorKind::Failed, reason))
    }
}
