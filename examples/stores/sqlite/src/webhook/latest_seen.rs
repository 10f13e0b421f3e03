//! Latest position of each resource (W9), in `webhook_latest`.

use async_trait::async_trait;
use rusqlite::{OptionalExtension, Transaction};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Advance, LatestSeen, Position, ResourceKey};

use crate::database::{Database, DatabaseError};

#[async_trait]
impl LatestSeen for Database {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        let resource = resource.clone();
        Ok(self
            .write(move |transaction| advance_in(transaction, &resource, position))
            .await?)
    }
}

/// Advances `resource` to `position` in the caller's transaction, together with the event's work.
///
/// # Errors
///
/// [`DatabaseError`]; nothing was written.
pub fn advance_in(
    transaction: &Transaction<'_>,
    resource: &ResourceKey,
    position: Position,
) -> Result<Advance, DatabaseError> {
    let key = (&resource.source, resource.resource.as_str());
    let mut latest = transaction
        .prepare_cached("SELECT position FROM webhook_latest WHERE source = ?1 AND resource = ?2")?;
    let latest: Option<[u8; 8]> = latest.query_row(key, |row| row.get(0)).optional()?;
    let latest = latest.map(|bytes| Position::from(u64::from_be_bytes(bytes)));
    let advance = Advance::compare(latest, position);
    if advance == Advance::Newer {
        transaction
            .prepare_cached(
                "INSERT INTO webhook_latest (source, resource, position) VALUES (?1, ?2, ?3)
                 ON CONFLICT (source, resource) DO UPDATE SET position = excluded.position",
            )?
            .execute((key.0, key.1, position.as_u64().to_be_bytes()))?;
    }
    Ok(advance)
}
