//! Claims of events that are handled within their request or queued elsewhere (W7), in
//! `webhook_handling`.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use sqlx::PgPool;
use webhook_core::ports::StoreError;
use webhook_core::receiver::{BeginOutcome, BodyDigest, Claims, EventKey, Incoming};

use crate::column::{nanoseconds, time};
use crate::database::{Database, DatabaseError};

#[async_trait]
impl Claims for Database {
    async fn begin(
        &self,
        event: &Incoming,
        now: SystemTime,
        lease: Duration,
    ) -> Result<BeginOutcome, StoreError> {
        let event = event.clone();
        let begun = self.run(|pool| async move { begin(&pool, &event, now, lease).await });
        Ok(begun.await?)
    }

    async fn complete(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        let (key, digest) = (key.clone(), *digest);
        let completed = self.run(|pool| async move { complete(&pool, &key, &digest).await });
        Ok(completed.await?)
    }
}

/// Claims the event, or decides by the claim that exists.
///
/// That claim can end between the two statements; then the first is tried again. Each statement
/// alone is the whole operation if it has a result.
async fn begin(
    pool: &PgPool,
    event: &Incoming,
    now: SystemTime,
    lease: Duration,
) -> Result<BeginOutcome, DatabaseError> {
    // on overflow the claim itself bounds the lease, or no other delivery could take it over
    let until = now.checked_add(lease).unwrap_or(event.expires_at);
    loop {
        if try_claim(pool, event, now, until).await? {
            return Ok(BeginOutcome::Claimed);
        }
        match live_claim(pool, &event.key, now).await? {
            Some((digest, _)) if digest != event.digest => return Ok(BeginOutcome::Conflict),
            Some((_, None)) => return Ok(BeginOutcome::Duplicate),
            Some((_, Some(until))) if until > now => return Ok(BeginOutcome::Pending { until }),
            _ => {}
        }
    }
}

async fn try_claim(
    pool: &PgPool,
    event: &Incoming,
    now: SystemTime,
    until: SystemTime,
) -> Result<bool, DatabaseError> {
    let claimed = sqlx::query(
        "INSERT INTO webhook_handling AS claim (source, event, digest, leased_until, expires_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (source_digest, event) DO UPDATE
             SET digest = excluded.digest, leased_until = excluded.leased_until,
                 expires_at = CASE WHEN claim.expires_at <= $6 THEN excluded.expires_at ELSE claim.expires_at END
             WHERE claim.expires_at <= $6 OR (claim.digest = excluded.digest AND claim.leased_until <= $6)",
    )
    .bind(event.key.source.as_bytes())
    .bind(event.key.id.as_str())
    .bind(&event.digest.as_bytes()[..])
    .bind(nanoseconds(until))
    .bind(nanoseconds(event.expires_at))
    .bind(nanoseconds(now));
    Ok(claimed.execute(pool).await?.rows_affected() > 0)
}

/// Digest and end of the lease of a claim that has not expired.
async fn live_claim(
    pool: &PgPool,
    key: &EventKey,
    now: SystemTime,
) -> Result<Option<(BodyDigest, Option<SystemTime>)>, DatabaseError> {
    let claim: Option<(Vec<u8>, Option<i64>)> = sqlx::query_as(
        "SELECT digest, leased_until FROM webhook_handling
         WHERE source_digest = sha256($1) AND event = $2 AND expires_at > $3",
    )
    .bind(key.source.as_bytes())
    .bind(key.id.as_str())
    .bind(nanoseconds(now))
    .fetch_optional(pool)
    .await?;
    let Some((digest, until)) = claim else {
        return Ok(None);
    };
    let digest = <[u8; 32]>::try_from(digest.as_slice()).map_err(DatabaseError::corrupt)?;
    Ok(Some((digest.into(), until.map(time).transpose()?)))
}

async fn complete(pool: &PgPool, key: &EventKey, digest: &BodyDigest) -> Result<(), DatabaseError> {
    sqlx::query(
        "UPDATE webhook_handling SET leased_until = NULL
         WHERE source_digest = sha256($1) AND event = $2 AND digest = $3",
    )
    .bind(key.source.as_bytes())
    .bind(key.id.as_str())
    .bind(&digest.as_bytes()[..])
    .execute(pool)
    .await?;
    Ok(())
}
