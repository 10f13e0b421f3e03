//! Latest position of each resource (W9), in `webhook_latest`.

use async_trait::async_trait;
use sqlx::{PgConnection, Postgres, Transaction};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Advance, LatestSeen, Position, ResourceKey};

use crate::database::{Database, DatabaseError};

#[async_trait]
impl LatestSeen for Database {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        let resource = resource.clone();
        let advance = self.run(move |pool| async move {
            let mut connection = pool.acquire().await?;
            advance_on(&mut connection, &resource, position).await
        });
        Ok(advance.await?)
    }
}

/// Advances `resource` in the caller's transaction. A second worker waits until it ends.
///
/// # Errors
///
/// [`DatabaseError`]; the transaction can then only be rolled back.
pub async fn advance_in(
    transaction: &mut Transaction<'_, Postgres>,
    resource: &ResourceKey,
    position: Position,
) -> Result<Advance, DatabaseError> {
    advance_on(transaction, resource, position).await
}

/// Advances the position, or returns the one that is later or equal. Positions only grow, so the
/// second statement finds the position that decided the first.
async fn advance_on(
    connection: &mut PgConnection,
    resource: &ResourceKey,
    position: Position,
) -> Result<Advance, DatabaseError> {
    let moved = sqlx::query(
        "INSERT INTO webhook_latest AS latest (source, resource, position) VALUES ($1, $2, $3)
         ON CONFLICT (source_digest, resource_digest) DO UPDATE
             SET position = excluded.position WHERE latest.position < excluded.position",
    )
    .bind(resource.source.as_bytes())
    .bind(resource.resource.as_str().as_bytes())
    .bind(shifted(position))
    .execute(&mut *connection)
    .await?;
    if moved.rows_affected() > 0 {
        return Ok(Advance::Newer);
    }
    let latest: i64 = sqlx::query_scalar(
        "SELECT position FROM webhook_latest WHERE source_digest = sha256($1) AND resource_digest = sha256($2)",
    )
    .bind(resource.source.as_bytes())
    .bind(resource.resource.as_str().as_bytes())
    .fetch_one(connection)
    .await?;
    Ok(if latest == shifted(position) {
        Advance::Same
    } else {
        Advance::Older
    })
}

/// Maps an unsigned number to a signed one in the same order.
fn shifted(position: Position) -> i64 {
    (position.as_u64() ^ (1 << 63)).cast_signed()
}
