//! Idempotency keys and their responses (H6), in `idempotency_record`.

use std::mem;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, Record, RecordKey, RequestOutcome, Settled,
    State, decide,
};
use http_conventions::ports::StoreError;
use rusqlite::{OptionalExtension, Transaction};

use crate::column::Time;
use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

#[async_trait]
impl IdempotencyStore for Database {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let claim = claim.clone();
        let claim = self.write(move |transaction| -> Result<_, DatabaseError> {
            let outcome = decide(load(transaction, &claim.key)?, &claim, now);
            if outcome == ClaimOutcome::Claimed {
                write(transaction, &claim)?;
            }
            Ok(outcome)
        });
        Ok(claim.await?)
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        let (key, fence) = (*key, *fence);
        let (state, body) = without_body(State::Settled(outcome));
        let state = Document::new(state)?.text;
        let complete = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "UPDATE idempotency_record SET fence = NULL, state = ?3, body = ?4, expires_at = ?5
                 WHERE key = ?1 AND fence = ?2",
            )?;
            let values = (
                key.as_bytes(),
                fence.as_bytes(),
                state,
                &body[..],
                Time(expires_at),
            );
            Ok(settled(statement.execute(values)?))
        });
        Ok(complete.await?)
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        let (key, fence) = (*key, *fence);
        let release = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement =
                transaction.prepare_cached("DELETE FROM idempotency_record WHERE key = ?1 AND fence = ?2")?;
            Ok(settled(statement.execute((key.as_bytes(), fence.as_bytes()))?))
        });
        Ok(release.await?)
    }
}

fn load(transaction: &Transaction<'_>, key: &RecordKey) -> Result<Option<Record>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT fingerprint, state, body, expires_at FROM idempotency_record WHERE key = ?1",
    )?;
    let record = statement.query_row([key.as_bytes()], |row| {
        let (Json(mut state), Time(expires_at)) = (row.get(1)?, row.get(3)?);
        if let State::Settled(RequestOutcome::Completed(response)) = &mut state {
            response.body = Bytes::from(row.get::<_, Vec<u8>>(2)?);
        }
        Ok(Record {
            fingerprint: Fingerprint::from_bytes(row.get(0)?),
            state,
            expires_at,
        })
    });
    Ok(record.optional()?)
}

/// Writes the record of a granted claim and replaces an older one.
fn write(transaction: &Transaction<'_>, claim: &Claim) -> Result<(), DatabaseError> {
    let record = claim.record();
    let mut statement = transaction.prepare_cached(
        "INSERT OR REPLACE INTO idempotency_record (key, fingerprint, fence, state, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    statement.execute((
        claim.key.as_bytes(),
        record.fingerprint.as_bytes(),
        claim.fence.as_bytes(),
        Document::new(record.state)?.text,
        Time(record.expires_at),
    ))?;
    Ok(())
}

/// Separates the body, which has a column of its own so that it is not encoded as text.
fn without_body(mut state: State) -> (State, Bytes) {
    let body = match &mut state {
        State::Settled(RequestOutcome::Completed(response)) => mem::take(&mut response.body),
        State::Settled(RequestOutcome::Unreplayable { .. } | RequestOutcome::Indeterminate)
        | State::InFlight { .. } => Bytes::new(),
    };
    (state, body)
}

fn settled(rows: usize) -> Settled {
    if rows == 0 { Settled::Fenced } else { Settled::Done }
}
