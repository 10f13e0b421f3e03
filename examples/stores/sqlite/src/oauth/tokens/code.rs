//! Authorization codes, unused and redeemed, in `oauth_code`.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{AuthorizationCodeRecord, CodeSnapshot, FamilyId, Grant, Insertion, RedeemOutcome};
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::Purchase;
use super::{access_token, family, refresh_token};
use crate::column::Time;
use crate::database::DatabaseError;
use crate::json::{Document, Json};
use crate::oauth::{insertion, sessions};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    code: &Document<AuthorizationCodeRecord>,
) -> Result<Insertion, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_code (hash, expires_at, retain_until, redeemed, record) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (hash) DO NOTHING",
    )?;
    let record = &code.record;
    let rows = statement.execute((
        record.hash.as_bytes(),
        Time(record.expires_at),
        Time(record.retain_until),
        record.redeemed.as_ref().map(FamilyId::as_bytes),
        &code.text,
    ))?;
    Ok(insertion(rows))
}

pub(super) fn load(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<AuthorizationCodeRecord>, DatabaseError> {
    let mut statement =
        connection.prepare_cached("SELECT record, redeemed FROM oauth_code WHERE hash = ?1")?;
    let code = statement.query_row([hash.as_bytes()], |row| {
        let Json(mut code): Json<AuthorizationCodeRecord> = row.get(0)?;
        code.redeemed = row.get::<_, Option<_>>(1)?.map(FamilyId::from_bytes);
        Ok(code)
    });
    Ok(code.optional()?)
}

/// Redeems the code and inserts its tokens.
pub(super) fn redeem(
    transaction: &Transaction<'_>,
    hash: &TokenHash,
    purchase: &Purchase,
    now: SystemTime,
) -> Result<RedeemOutcome, DatabaseError> {
    let code = snapshot(transaction, hash, &purchase.family.record.grant, now)?;
    let outcome = RedeemOutcome::decide(code, now);
    if outcome != RedeemOutcome::Redeemed {
        return Ok(outcome);
    }
    let family = purchase.family.record.id;
    transaction
        .prepare_cached("UPDATE oauth_code SET redeemed = ?2 WHERE hash = ?1")?
        .execute((hash.as_bytes(), family.as_bytes()))?;
    family::insert(transaction, &purchase.family)?;
    access_token::insert_new(transaction, &purchase.access)?;
    if let Some(refresh) = &purchase.refresh {
        refresh_token::insert(transaction, refresh)?;
    }
    Ok(RedeemOutcome::Redeemed)
}

fn snapshot(
    transaction: &Transaction<'_>,
    hash: &TokenHash,
    grant: &Grant,
    now: SystemTime,
) -> Result<Option<CodeSnapshot>, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("SELECT redeemed, expires_at FROM oauth_code WHERE hash = ?1")?;
    let found = statement.query_row([hash.as_bytes()], |row| {
        let Time(expires_at) = row.get(1)?;
        Ok((row.get::<_, Option<_>>(0)?, expires_at))
    });
    let Some((redeemed, expires_at)) = found.optional()? else {
        return Ok(None);
    };
    // a redeemed or expired code is reported even if its session cannot be read
    let is_fresh = redeemed.is_none() && now < expires_at;
    let session = grant.session.as_ref().filter(|_| is_fresh);
    let session = session.map(|id| sessions::load(transaction, id)).transpose()?;
    Ok(Some(CodeSnapshot {
        redeemed: redeemed.map(FamilyId::from_bytes),
        expires_at,
        is_session_active: grant.is_session_active(session.flatten().as_ref(), now),
    }))
}
