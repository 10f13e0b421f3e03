//! Claims of events that are handled within their request or queued elsewhere (W7), in
//! `webhook_handling`.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use rusqlite::{OptionalExtension, Transaction};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{BeginOutcome, BodyDigest, Claims, EventKey, Incoming};

use crate::column::Time;
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
        let begun = self.write(move |transaction| begin(transaction, &event, now, lease));
        Ok(begun.await?)
    }

    async fn complete(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        let (key, digest) = (key.clone(), *digest);
        let completed = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "UPDATE webhook_handling SET leased_until = NULL
                 WHERE source = ?1 AND event = ?2 AND digest = ?3",
            )?;
            statement.execute((&key.source, key.id.as_str(), digest.as_bytes()))?;
            Ok(())
        });
        Ok(completed.await?)
    }
}

fn begin(
    transaction: &Transaction<'_>,
    event: &Incoming,
    now: SystemTime,
    lease: Duration,
) -> Result<BeginOutcome, DatabaseError> {
    // on overflow the claim itself bounds the lease, or no other delivery could take it over
    let until = now.checked_add(lease).unwrap_or(event.expires_at);
    let (source, id) = (&event.key.source, event.key.id.as_str());
    match live_claim(transaction, &event.key, now)? {
        None => {
            transaction
                .prepare_cached(
                    "INSERT INTO webhook_handling (source, event, digest, leased_until, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (source, event) DO UPDATE SET digest = excluded.digest,
                         leased_until = excluded.leased_until, expires_at = excluded.expires_at",
                )?
                .execute((
                    source,
                    id,
                    event.digest.as_bytes(),
                    Time(until),
                    Time(event.expires_at),
                ))?;
            Ok(BeginOutcome::Claimed)
        }
        Some((digest, _)) if digest != event.digest => Ok(BeginOutcome::Conflict),
        Some((_, None)) => Ok(BeginOutcome::Duplicate),
        Some((_, Some(until))) if until > now => Ok(BeginOutcome::Pending { until }),
        Some(_) => {
            transaction
                .prepare_cached(
                    "UPDATE webhook_handling SET leased_until = ?3 WHERE source = ?1 AND event = ?2",
                )?
                .execute((source, id, Time(until)))?;
            Ok(BeginOutcome::Claimed)
        }
    }
}

/// Digest and end of the lease of a claim that has not expired.
fn live_claim(
    transaction: &Transaction<'_>,
    key: &EventKey,
    now: SystemTime,
) -> Result<Option<(BodyDigest, Option<SystemTime>)>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT digest, leased_until FROM webhook_handling WHERE source = ?1 AND event = ?2 AND expires_at > ?3",
    )?;
    let claim = statement.query_row((&key.source, key.id.as_str(), Time(now)), |row| {
        let digest = BodyDigest::from(row.get::<_, [u8; 32]>(0)?);
        let until: Option<Time> = row.get(1)?;
        Ok((digest, until.map(|Time(until)| until)))
    });
    Ok(claim.optional()?)
}
