//! Authorization codes, unused and redeemed, in `oauth_code`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AuthorizationCodeRecord, CodeSnapshot, FamilyId, Insertion, RedeemOutcome, SessionId,
};
use sqlx::{PgConnection, PgPool};

use super::Purchase;
use super::{access_token, family, refresh_token};
use crate::column::{nanoseconds, time};
use crate::database::DatabaseError;
use crate::json::{self, Document};
use crate::oauth::{insertion, sessions, subject};

pub(super) async fn insert(
    pool: &PgPool,
    code: &Document<AuthorizationCodeRecord>,
) -> Result<Insertion, DatabaseError> {
    let record = &code.record;
    let mut transaction = subject::begin_sharing(pool, Some(&record.grant.subject)).await?;
    let inserted = sqlx::query(
        "INSERT INTO oauth_code (hash, subject, client_id, session, expires_at, retain_until, redeemed, record)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (hash) DO NOTHING",
    )
    .bind(record.hash.as_bytes())
    .bind(record.grant.subject.as_str())
    .bind(record.grant.client_id.as_str())
    .bind(record.grant.session.as_ref().map(SessionId::as_bytes))
    .bind(nanoseconds(record.expires_at))
    .bind(nanoseconds(record.retain_until))
    .bind(record.redeemed.as_ref().map(FamilyId::as_bytes))
    .bind(&code.text)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(insertion(&inserted))
}

pub(super) async fn load(
    pool: &PgPool,
    hash: &TokenHash,
) -> Result<Option<AuthorizationCodeRecord>, DatabaseError> {
    let found: Option<(String, Option<[u8; 16]>)> =
        sqlx::query_as("SELECT record, redeemed FROM oauth_code WHERE hash = $1")
            .bind(hash.as_bytes())
            .fetch_optional(pool)
            .await?;
    let code = found.map(|(text, redeemed)| -> Result<_, DatabaseError> {
        let mut code: AuthorizationCodeRecord = json::record(&text)?;
        code.redeemed = redeemed.map(FamilyId::from_bytes);
        Ok(code)
    });
    code.transpose()
}

/// Redeems the code and inserts its tokens; the row count of the update decides.
pub(super) async fn redeem(
    pool: &PgPool,
    hash: &TokenHash,
    purchase: &Purchase,
    now: SystemTime,
) -> Result<RedeemOutcome, DatabaseError> {
    let family = &purchase.family.record;
    let mut transaction = subject::begin_sharing(pool, Some(&family.grant.subject)).await?;
    let session = match &family.grant.session {
        Some(id) => sessions::lock_shared(&mut transaction, id).await?,
        None => None,
    };
    let is_session_active = family.grant.is_session_active(session.as_ref(), now);
    if !is_session_active {
        let code = snapshot(&mut transaction, hash, is_session_active).await?;
        return Ok(RedeemOutcome::decide(code, now));
    }
    let spent = sqlx::query(
        "UPDATE oauth_code SET redeemed = $2 WHERE hash = $1 AND redeemed IS NULL AND expires_at > $3",
    )
    .bind(hash.as_bytes())
    .bind(family.id.as_bytes())
    .bind(nanoseconds(now))
    .execute(&mut *transaction)
    .await?;
    if spent.rows_affected() == 0 {
        let code = snapshot(&mut transaction, hash, is_session_active).await?;
        return Ok(match RedeemOutcome::decide(code, now) {
            // inserted between the two statements
            RedeemOutcome::Redeemed => RedeemOutcome::NotFound,
            refused => refused,
        });
    }
    family::insert(&mut transaction, &purchase.family).await?;
    access_token::insert_new(&mut *transaction, &purchase.access).await?;
    if let Some(refresh) = &purchase.refresh {
        refresh_token::insert(&mut transaction, refresh).await?;
    }
    transaction.commit().await?;
    Ok(RedeemOutcome::Redeemed)
}

async fn snapshot(
    connection: &mut PgConnection,
    hash: &TokenHash,
    is_session_active: bool,
) -> Result<Option<CodeSnapshot>, DatabaseError> {
    let found: Option<(Option<[u8; 16]>, i64)> =
        sqlx::query_as("SELECT redeemed, expires_at FROM oauth_code WHERE hash = $1")
            .bind(hash.as_bytes())
            .fetch_optional(connection)
            .await?;
    let snapshot = found.map(|(redeemed, expires_at)| -> Result<_, DatabaseError> {
        Ok(CodeSnapshot {
            redeemed: redeemed.map(FamilyId::from_bytes),
            expires_at: time(expires_at)?,
            is_session_active,
        })
    });
    snapshot.transpose()
}
