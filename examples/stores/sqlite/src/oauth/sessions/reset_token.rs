//! Password-reset tokens in `oauth_reset_token`: one per subject, and one without a subject.

use oauth_core::secret::TokenHash;
use oauth_core::store::ResetTokenRecord;
use oauth_core::vocabulary::Subject;
use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::column::Time;
use crate::database::DatabaseError;
use crate::json::{Document, Json};

/// Stores the token and replaces the previous one of its subject.
pub(super) fn put(
    transaction: &Transaction<'_>,
    token: &Document<ResetTokenRecord>,
) -> Result<(), DatabaseError> {
    let record = &token.record;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO oauth_reset_token (hash, subject, expires_at, record) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            record.hash.as_bytes(),
            // the empty string marks a token without a subject: no subject is empty
            record.subject.as_ref().map_or("", Subject::as_str),
            Time(record.expires_at),
            &token.text,
        ))?;
    Ok(())
}

pub(super) fn load(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<ResetTokenRecord>, DatabaseError> {
    let record = connection
        .prepare_cached("SELECT record FROM oauth_reset_token WHERE hash = ?1")?
        .query_row([hash.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(record.map(|Json(token)| token))
}
