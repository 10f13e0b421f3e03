//! Token families, the unit of revocation, in `oauth_family`.

use oauth_core::store::{FamilyId, FamilyRevocation, RevokeOutcome, SessionId, TokenFamily};
use sqlx::{PgConnection, PgPool};

use crate::column::nanoseconds;
use crate::database::DatabaseError;
use crate::json::{self, Document};

pub(super) async fn insert(
    connection: &mut PgConnection,
    family: &Document<TokenFamily>,
) -> Result<(), DatabaseError> {
    let record = &family.record;
    let revocation = record.revoked.map(Document::new).transpose()?;
    sqlx::query(
        "INSERT INTO oauth_family (id, subject, client_id, session, expires_at, retain_until, revocation, record)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(record.id.as_bytes())
    .bind(record.grant.subject.as_str())
    .bind(record.grant.client_id.as_str())
    .bind(record.grant.session.as_ref().map(SessionId::as_bytes))
    .bind(nanoseconds(record.expires_at))
    .bind(nanoseconds(record.retain_until))
    .bind(revocation.map(|revocation| revocation.text))
    .bind(&family.text)
    .execute(connection)
    .await?;
    Ok(())
}

/// Reads a family from the columns `record` and `revocation`.
pub(super) fn from_columns(record: &str, revocation: Option<&str>) -> Result<TokenFamily, DatabaseError> {
    let mut family: TokenFamily = json::record(record)?;
    family.revoked = revocation.map(json::record).transpose()?;
    Ok(family)
}

/// Revokes the family, or finds why not; the first revocation stays.
///
/// A pending rotation holds the row, so the tokens that it issued are revoked too.
pub(super) async fn revoke(
    pool: &PgPool,
    id: &FamilyId,
    revocation: &Document<FamilyRevocation>,
) -> Result<RevokeOutcome, DatabaseError> {
    loop {
        let revoked =
            sqlx::query("UPDATE oauth_family SET revocation = $2 WHERE id = $1 AND revocation IS NULL")
                .bind(id.as_bytes())
                .bind(&revocation.text)
                .execute(pool)
                .await?;
        if revoked.rows_affected() > 0 {
            return Ok(RevokeOutcome::Revoked);
        }
        let found: Option<bool> =
            sqlx::query_scalar("SELECT revocation IS NOT NULL FROM oauth_family WHERE id = $1")
                .bind(id.as_bytes())
                .fetch_optional(pool)
                .await?;
        match RevokeOutcome::decide(found) {
            // inserted between the two statements
            RevokeOutcome::Revoked => {}
            refused => return Ok(refused),
        }
    }
}
