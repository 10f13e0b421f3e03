//! Idempotency keys and their responses (H6), in `idempotency_record`; completion in a transaction
//! of the host (H23).

use std::mem;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, Fenced, Fingerprint, IdempotencyStore, Receipt, Record, RecordKey,
    RequestOutcome, Settled, Settlement, State, decide,
};
use http_conventions::ports::StoreError;
use sqlx::postgres::PgQueryResult;
use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::column::{nanoseconds, time};
use crate::database::{Database, DatabaseError, begin};
use crate::json::{Document, record};

#[async_trait]
impl IdempotencyStore for Database {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let written = claim.clone();
        let claimed = self.run(move |pool| async move { claim_key(&pool, &written, now).await });
        Ok(claimed.await?)
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        let (key, fence) = (*key, *fence);
        let complete =
            self.run(move |pool| async move { settle(&pool, &key, &fence, outcome, expires_at).await });
        Ok(complete.await?)
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        let (key, fence) = (*key, *fence);
        let release = self.run(move |pool| async move {
            let released = sqlx::query("DELETE FROM idempotency_record WHERE key = $1 AND fence = $2")
                .bind(&key.as_bytes()[..])
                .bind(&fence.as_bytes()[..]);
            Ok(settled(&released.execute(&pool).await?))
        });
        Ok(release.await?)
    }
}

/// Completes a key in the caller's transaction, which also contains the rows and events of the
/// request. See [`Idempotency::run_in_transaction`].
///
/// A concurrent claim of the key waits until the transaction has ended.
///
/// # Errors
///
/// [`DatabaseError`], or [`Fenced`] if another request has taken over the key. The caller must roll
/// its transaction back in both cases.
///
/// [`Idempotency::run_in_transaction`]: http_conventions::idempotency::Idempotency::run_in_transaction
pub async fn complete_in(
    connection: &mut PgConnection,
    settlement: &Settlement,
) -> Result<Result<Receipt, Fenced>, DatabaseError> {
    let Settlement {
        key,
        fence,
        outcome,
        expires_at,
        ..
    } = settlement;
    let settled = settle(connection, key, fence, outcome.clone(), *expires_at).await?;
    Ok(settlement.receipt(settled))
}

async fn settle(
    executor: impl PgExecutor<'_>,
    key: &RecordKey,
    fence: &Fence,
    outcome: RequestOutcome,
    expires_at: SystemTime,
) -> Result<Settled, DatabaseError> {
    let (state, body) = without_body(State::Settled(outcome));
    let completed = sqlx::query(
        "UPDATE idempotency_record SET fence = NULL, state = $3, body = $4, expires_at = $5
         WHERE key = $1 AND fence = $2",
    )
    .bind(&key.as_bytes()[..])
    .bind(&fence.as_bytes()[..])
    .bind(Document::new(state)?.text)
    .bind(&body[..])
    .bind(nanoseconds(expires_at));
    Ok(settled(&completed.execute(executor).await?))
}

/// Claims a free key, or decides from the record that holds it.
///
/// That record can be released or purged between the two statements; then the first is tried again.
async fn claim_key(pool: &PgPool, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, DatabaseError> {
    loop {
        let unused = write(
            claim,
            "INSERT INTO idempotency_record (key, fingerprint, fence, state, expires_at)
             SELECT $1, $2, $3, $4, $5
             FROM (SELECT $6 OR set_config('synchronous_commit', 'off', true) = 'off') AS durability
             ON CONFLICT (key) DO NOTHING",
        );
        if unused?.execute(pool).await?.rows_affected() > 0 {
            return Ok(ClaimOutcome::Claimed);
        }
        let mut transaction = begin(pool).await?;
        let Some(existing) = load(&mut transaction, &claim.key).await? else {
            continue;
        };
        let outcome = decide(Some(existing), claim, now);
        if outcome == ClaimOutcome::Claimed {
            let taken = write(
                claim,
                "UPDATE idempotency_record SET fingerprint = $2, fence = $3, state = $4, body = NULL, expires_at = $5
                 WHERE key = $1 AND ($6 OR set_config('synchronous_commit', 'off', true) = 'off')",
            );
            taken?.execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        return Ok(outcome);
    }
}

/// The statement that writes the record of a granted claim. If the claim need not be durable, the
/// statement also lets its own transaction commit without waiting for the disk.
fn write<'q>(
    claim: &'q Claim,
    statement: &'static str,
) -> Result<sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>, DatabaseError> {
    let record = claim.record();
    Ok(sqlx::query(statement)
        .bind(&claim.key.as_bytes()[..])
        .bind(&claim.fingerprint.as_bytes()[..])
        .bind(&claim.fence.as_bytes()[..])
        .bind(Document::new(record.state)?.text)
        .bind(nanoseconds(record.expires_at))
        .bind(claim.is_durable))
}

type Row = (Vec<u8>, String, Option<Vec<u8>>, i64);

/// Loads and locks the record of a key.
async fn load(connection: &mut PgConnection, key: &RecordKey) -> Result<Option<Record>, DatabaseError> {
    let row: Option<Row> = sqlx::query_as(
        "SELECT fingerprint, state, body, expires_at FROM idempotency_record WHERE key = $1 FOR UPDATE",
    )
    .bind(&key.as_bytes()[..])
    .fetch_optional(connection)
    .await?;
    let Some((fingerprint, state, body, expires_at)) = row else {
        return Ok(None);
    };
    let fingerprint = <[u8; 32]>::try_from(fingerprint);
    let fingerprint = fingerprint.map_err(|_| DatabaseError::corrupt("a fingerprint of another length"))?;
    let mut state = record(&state)?;
    if let State::Settled(RequestOutcome::Completed(response)) = &mut state {
        response.body = Bytes::from(body.unwrap_or_default());
    }
    Ok(Some(Record {
        fingerprint: Fingerprint::from_bytes(fingerprint),
        state,
        expires_at: time(expires_at)?,
    }))
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

fn settled(result: &PgQueryResult) -> Settled {
    match result.rows_affected() {
        0 => Settled::Fenced,
        _ => Settled::Done,
    }
}
