//! Authorization codes, fresh and spent, in `oauth_code`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{AuthorizationCodeRecord, FamilyId, Insertion, RedeemOutcome, SessionId};
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
        "INSERT INTO oauth_code (hash, subject, session, expires_at, retain_until, redeemed, record)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING",
    )
    .bind(record.hash.as_bytes())
    .bind(record.grant.subject.as_str())
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

/// Spends the code and stores what it buys, or finds why not.
pub(super) async fn redeem(
    pool: &PgPool,
    hash: &TokenHash,
    purchase: &Purchase,
    now: SystemTime,
) -> Result<RedeemOutcome, DatabaseError> {
    let family = &purchase.family.record;
    let mut transaction = subject::begin_sharing(pool, Some(&family.grant.subject)).await?;
    if let Some(session) = &family.grant.session
        && !sessions::stands(&mut transaction, session, now).await?
    {
        return why_not(&mut transaction, hash, now, RedeemOutcome::SessionEnded).await;
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
        // unless it comes just now, too late to be found
        return why_not(&mut transaction, hash, now, RedeemOutcome::NotFound).await;
    }
    family::insert(&mut transaction, &purchase.family).await?;
    access_token::insert_new(&mut *transaction, &purchase.access).await?;
    if let Some(refresh) = &purchase.refresh {
        refresh_token::insert(&mut transaction, refresh).await?;
    }
    transaction.commit().await?;
    Ok(RedeemOutcome::Redeemed)
}

/// What is in the way of the code itself, or else `otherwise`.
async fn why_not(
    connection: &mut PgConnection,
    hash: &TokenHash,
    now: SystemTime,
    otherwise: RedeemOutcome,
) -> Result<RedeemOutcome, DatabaseError> {
    let found: Option<(Option<[u8; 16]>, i64)> =
        sqlx::query_as("SELECT redeemed, expires_at FROM oauth_code WHERE hash = $1")
            .bind(hash.as_bytes())
            .fetch_optional(connection)
            .await?;
    Ok(match found {
        Some((Some(family), _)) => RedeemOutcome::AlreadyRedeemed {
            family: FamilyId::from_bytes(family),
        },
        Some((None, expires_at)) if time(expires_at)? <= now => RedeemOutcome::Expired,
        Some((None, _)) => otherwise,
        None => RedeemOutcome::NotFound,
    })
}
