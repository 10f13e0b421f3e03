//! Token families, the unit of revocation, in `oauth_family`.

use oauth_core::store::{FamilyId, FamilyRevocation, RevokeOutcome, TokenFamily};
use rusqlite::{OptionalExtension, Row, Transaction};

use crate::column::Time;
use crate::database::DatabaseError;
use crate::json::{Document, Json};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    family: &Document<TokenFamily>,
) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_family (id, expires_at, retain_until, revocation, record) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let record = &family.record;
    statement.execute((
        record.id.as_bytes(),
        Time(record.expires_at),
        Time(record.retain_until),
        record
            .revoked
            .map(Document::new)
            .transpose()?
            .map(|revocation| revocation.text),
        &family.text,
    ))?;
    Ok(())
}

/// Reads the family from the columns `first` (`record`) and `first + 1` (`revocation`); `None` if
/// they are null.
pub(super) fn from_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<TokenFamily>> {
    let Some(Json(mut family)): Option<Json<TokenFamily>> = row.get(first)? else {
        return Ok(None);
    };
    family.revoked = row
        .get::<_, Option<_>>(first + 1)?
        .map(|Json(revocation)| revocation);
    Ok(Some(family))
}

/// Revokes the family; the first revocation stays.
pub(super) fn revoke(
    transaction: &Transaction<'_>,
    id: &FamilyId,
    revocation: &Document<FamilyRevocation>,
) -> Result<RevokeOutcome, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("SELECT revocation IS NOT NULL FROM oauth_family WHERE id = ?1")?;
    let found = statement.query_row([id.as_bytes()], |row| row.get(0));
    let outcome = RevokeOutcome::decide(found.optional()?);
    if outcome == RevokeOutcome::Revoked {
        transaction
            .prepare_cached("UPDATE oauth_family SET revocation = ?2 WHERE id = ?1")?
            .execute((id.as_bytes(), &revocation.text))?;
    }
    Ok(outcome)
}
