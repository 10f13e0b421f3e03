//! Idempotency keys and their responses (H6), in the table `idempotency_record`. Completion of a
//! key in a transaction of the host (H23).

use std::mem;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, Fenced, Fingerprint, IdempotencyStore, Receipt, Record, RecordKey,
    RequestOutcome, Settled, Settlement, State, decide,
};
use http_conventions::ports::StoreError;
use rusqlite::{OptionalExtension, Transaction};

use crate::column::Time;
use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

#[async_trait]
impl IdempotencyStore for Database {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let (claim, is_durable) = (claim.clone(), claim.is_durable);
        let decide_and_write = move |transaction: &Transaction<'_>| -> Result<_, DatabaseError> {
            let outcome = decide(load(transaction, &claim.key)?, &claim, now);
            if outcome == ClaimOutcome::Claimed {
                write(transaction, &claim)?;
            }
            Ok(outcome)
        };
        match is_durable {
            true => Ok(self.write(decide_and_write).await?),
            false => Ok(self.write_without_sync(decide_and_write).await?),
        }
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        let (key, fence) = (*key, *fence);
        let complete = self.write(move |transaction| -> Result<_, DatabaseError> {
            settle(transaction, &key, &fence, outcome, expires_at)
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

/// Completes a key in the caller's transaction, which also writes the rows of the request. See
/// [`Idempotency::run_in_transaction`].
///
/// ```
/// # use std::time::SystemTime;
/// # use bytes::Bytes;
/// # use http::{Request, Response};
/// # use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
/// # use http_conventions::idempotency::{Fenced, Idempotency, KeyScope, Reply};
/// # use http_conventions::ports::{OsEntropy, SystemClock};
/// # use host_store_sqlite::{Database, DatabaseError, idempotency};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// enum Failed {
///     Database(DatabaseError),
///     TakenOver,
/// }
/// # impl From<DatabaseError> for Failed {
/// #     fn from(error: DatabaseError) -> Self { Self::Database(error) }
/// # }
/// # impl From<Fenced> for Failed { fn from(_: Fenced) -> Self { Self::TakenOver } }
///
/// # let database = Database::open_in_memory()?;
/// # let step = "CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER) STRICT";
/// # database.migrate("desk", &[step]).await?;
/// # let problems = ProblemBase::new("https://api.example.com/problems/")?;
/// # let idempotency = Idempotency::new(database.clone(), SystemClock, &OsEntropy, problems);
/// # let request = Request::post("/v1/charges").header("Idempotency-Key", "\"k\"");
/// # let request = request.body(Bytes::new())?;
/// # let scope = KeyScope::new("user-7", "/v1/charges");
/// let response = idempotency.run_in_transaction(&request, scope, |held| async {
///     let charged = database.write(move |transaction| -> Result<_, Failed> {
///         let insert = transaction.execute("INSERT INTO charge (amount) VALUES (500)", ());
///         insert.map_err(DatabaseError::from)?;
///         let response = Response::new(Bytes::from_static(b"charged"));
///         let settlement = held.map(|held| held.settlement(&response));
///         let receipt = match &settlement {
///             Some(settlement) => Some(idempotency::complete_in(transaction, settlement)??),
///             None => None,
///         };
///         Ok(Reply::completed(response, receipt))
///     });
///     charged.await.unwrap_or_else(|_failed| {
///         Reply::OutcomeUnknown(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))
///     })
/// });
/// # let response = response.await.expect("the charge is made");
/// # assert_eq!(response.body(), "charged");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`DatabaseError`], or [`Fenced`] if the request no longer holds the key. The caller must return
/// either error from the closure of [`Database::write`], which then rolls back.
///
/// [`Idempotency::run_in_transaction`]: http_conventions::idempotency::Idempotency::run_in_transaction
pub fn complete_in(
    transaction: &Transaction<'_>,
    settlement: &Settlement,
) -> Result<Result<Receipt, Fenced>, DatabaseError> {
    let Settlement {
        key,
        fence,
        outcome,
        expires_at,
        ..
    } = settlement;
    let settled = settle(transaction, key, fence, outcome.clone(), *expires_at)?;
    Ok(settlement.receipt(settled))
}

fn settle(
    transaction: &Transaction<'_>,
    key: &RecordKey,
    fence: &Fence,
    outcome: RequestOutcome,
    expires_at: SystemTime,
) -> Result<Settled, DatabaseError> {
    let (state, body) = split_body(State::Settled(outcome));
    let mut statement = transaction.prepare_cached(
        "UPDATE idempotency_record SET fence = NULL, state = ?3, body = ?4, expires_at = ?5
         WHERE key = ?1 AND fence = ?2",
    )?;
    let values = (
        key.as_bytes(),
        fence.as_bytes(),
        Document::new(state)?.text,
        &body[..],
        Time(expires_at),
    );
    Ok(settled(statement.execute(values)?))
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

/// Writes the record of a granted claim, in place of an older record.
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

/// Separates the body, which has its own column, so that it is not encoded as text.
fn split_body(mut state: State) -> (State, Bytes) {
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
