//! Claims of received events (W7), their queue (W8) and its dead letters (W26), in `webhook_claim`,
//! `webhook_received` and `webhook_buried`. Acknowledgement of an event in a transaction of the
//! host (H23).
//!
//! One transaction writes both, so an event is claimed and queued, or neither. A duplicate is
//! therefore acknowledged only after its first copy is stored.

use std::error::Error;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{
    BodyDigest, Buried, BuriedQuery, Claim, Dedupe, EventKey, Fenced, Finish, Inbox, Incoming, Queued,
    Receipt, Ticket, WorkFailure,
};

use crate::column::{Number, Term, Time, limit};
use crate::database::{Database, DatabaseError};

#[async_trait]
impl Dedupe for Database {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        Ok(self
            .write(move |transaction| claim_and_enqueue(transaction, &event, now))
            .await?)
    }
}

#[async_trait]
impl Inbox for Database {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        let until = now.checked_add(lease).unwrap_or(now);
        Ok(self
            .write(move |transaction| take(transaction, limit, now, until))
            .await?)
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        let ticket = ticket.clone();
        Ok(self
            .write(move |transaction| finish(transaction, &ticket))
            .await?)
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        let ticket = ticket.clone();
        let retried = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "UPDATE webhook_received SET lease = NULL, leased_until = ?4
                 WHERE lease = ?1 AND source = ?2 AND event = ?3",
            )?;
            let key = &ticket.key;
            let rows = statement.execute((Number(ticket.lease), &key.source, key.id.as_str(), Time(at)))?;
            Ok(ended(rows))
        });
        Ok(retried.await?)
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        let (ticket, reason) = (ticket.clone(), Buried::kept_reason(reason).to_owned());
        let buried = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO webhook_buried (seq, source, event, takes, reason, buried_at, body)
                 SELECT seq, source, event, takes, ?4, ?5, body FROM webhook_received
                 WHERE lease = ?1 AND source = ?2 AND event = ?3 RETURNING seq",
            )?;
            let (lease, key) = (Number(ticket.lease), &ticket.key);
            let values = (lease, &key.source, key.id.as_str(), reason, Time(now));
            let seq: Option<i64> = statement.query_row(values, |row| row.get(0)).optional()?;
            let Some(seq) = seq else {
                return Ok(Finish::Stale);
            };
            let mut delete = transaction.prepare_cached("DELETE FROM webhook_received WHERE seq = ?1")?;
            Ok(ended(delete.execute([seq])?))
        });
        Ok(buried.await?)
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        let query = query.clone();
        Ok(self.read(move |connection| buried(connection, &query)).await?)
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        let replayed = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut queue = transaction.prepare_cached(
                "INSERT INTO webhook_received (source, event, body)
                 SELECT source, event, body FROM webhook_buried WHERE seq = ?1",
            )?;
            let is_queued = queue.execute([Number(number)])? > 0;
            discard(transaction, number)?;
            Ok(is_queued)
        });
        Ok(replayed.await?)
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        Ok(self
            .write(move |transaction| discard(transaction, number))
            .await?)
    }
}

/// Acknowledges an event in the caller's transaction, which also writes the rows of the work. See
/// [`Worker::run_in_transaction`].
///
/// Effects outside the database may run again: if the process crashes before the commit, the event
/// is taken again after its lease.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use webhook_core::ports::{OsEntropy, SystemClock};
/// # use webhook_core::receiver::{BodyDigest, Dedupe, EventKey, Incoming};
/// use host_store_sqlite::{Database, DatabaseError, inbox};
/// use webhook_core::receiver::{Queued, Receipt, WorkFailure, WorkOutcome, Worker};
///
/// async fn record_payment(database: &Database, event: &Queued) -> Result<Receipt, WorkFailure> {
///     let ticket = event.ticket.clone();
///     let recorded = database.write(move |transaction| -> Result<_, WorkFailure> {
///         let insert = transaction.execute("INSERT INTO payment (amount) VALUES (500)", ());
///         insert.map_err(DatabaseError::from)?;
///         Ok(inbox::complete_in(transaction, &ticket)??)
///     });
///     recorded.await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let database = Database::open_in_memory()?;
/// # let step = "CREATE TABLE payment (id INTEGER PRIMARY KEY, amount INTEGER) STRICT";
/// # database.migrate("desk", &[step]).await?;
/// # let key = EventKey { source: "shop".to_owned(), id: "evt_1".parse()? };
/// # let (body, now) = (bytes::Bytes::from_static(b"{}"), SystemTime::now());
/// # let expires_at = now + Duration::from_secs(60);
/// # let incoming = Incoming { key, digest: BodyDigest::compute(&body), body, expires_at };
/// # database.claim_and_enqueue(incoming, now).await?;
/// let worker = Worker::new(database.clone(), SystemClock, OsEntropy);
/// for event in worker.take(16).await? {
///     let work = record_payment(&database, &event);
///     let outcome = worker.run_in_transaction(&event, work).await?;
///     assert_eq!(outcome, WorkOutcome::Done);
/// }
/// # assert!(worker.take(16).await?.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`DatabaseError`], or [`Fenced`] if the worker no longer holds the event. The caller must return
/// either error from the closure of [`Database::write`], which then rolls back.
///
/// [`Worker::run_in_transaction`]: webhook_core::receiver::Worker::run_in_transaction
pub fn complete_in(
    transaction: &Transaction<'_>,
    ticket: &Ticket,
) -> Result<Result<Receipt, Fenced>, DatabaseError> {
    Ok(ticket.receipt(finish(transaction, ticket)?))
}

impl From<DatabaseError> for WorkFailure {
    /// Temporary, with the cause in its reason.
    fn from(error: DatabaseError) -> Self {
        let cause = error.source().map(|cause| format!(": {cause}"));
        Self::Temporary(format!("{error}{}", cause.unwrap_or_default()))
    }
}

fn finish(transaction: &Transaction<'_>, ticket: &Ticket) -> Result<Finish, DatabaseError> {
    let mut statement = transaction
        .prepare_cached("DELETE FROM webhook_received WHERE lease = ?1 AND source = ?2 AND event = ?3")?;
    let key = &ticket.key;
    let rows = statement.execute((Number(ticket.lease), &key.source, key.id.as_str()))?;
    Ok(ended(rows))
}

/// Result of a change of this number of rows.
fn ended(rows: usize) -> Finish {
    if rows == 0 { Finish::Stale } else { Finish::Done }
}

fn discard(transaction: &Transaction<'_>, number: u64) -> Result<bool, DatabaseError> {
    let mut delete = transaction.prepare_cached("DELETE FROM webhook_buried WHERE seq = ?1")?;
    Ok(delete.execute([Number(number)])? > 0)
}

fn buried(connection: &Connection, query: &BuriedQuery) -> Result<Vec<Buried>, DatabaseError> {
    let mut statement = connection.prepare_cached(if query.source.is_some() {
        "SELECT seq, source, event, takes, reason, buried_at, body FROM webhook_buried
         WHERE source = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
    } else {
        "SELECT seq, source, event, takes, reason, buried_at, body FROM webhook_buried
         WHERE ?1 IS NULL AND seq > ?2 ORDER BY seq LIMIT ?3"
    })?;
    let after = query.after.map_or(i64::MIN, u64::cast_signed);
    let found = statement.query_map((&query.source, after, limit(query.limit)), |row| {
        let (Number(number), Term(id), Time(buried_at)) = (row.get(0)?, row.get(2)?, row.get(5)?);
        let source = row.get(1)?;
        Ok(Buried {
            number,
            key: EventKey { source, id },
            body: Bytes::from(row.get::<_, Vec<u8>>(6)?),
            attempts: row.get(3)?,
            reason: row.get(4)?,
            buried_at,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn claim_and_enqueue(
    transaction: &Transaction<'_>,
    event: &Incoming,
    now: SystemTime,
) -> Result<Claim, DatabaseError> {
    let (source, id) = (&event.key.source, event.key.id.as_str());
    if let Some(digest) = live_claim(transaction, &event.key, now)? {
        return Ok(if digest == event.digest {
            Claim::Duplicate
        } else {
            Claim::Conflict
        });
    }
    transaction
        .prepare_cached(
            "INSERT INTO webhook_claim (source, event, digest, expires_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (source, event) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at",
        )?
        .execute((source, id, event.digest.as_bytes(), Time(event.expires_at)))?;
    transaction
        .prepare_cached("INSERT INTO webhook_received (source, event, body) VALUES (?1, ?2, ?3)")?
        .execute((source, id, &event.body[..]))?;
    Ok(Claim::Enqueued)
}

fn live_claim(
    transaction: &Transaction<'_>,
    key: &EventKey,
    now: SystemTime,
) -> Result<Option<BodyDigest>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT digest FROM webhook_claim WHERE source = ?1 AND event = ?2 AND expires_at > ?3",
    )?;
    let digest = statement.query_row((&key.source, key.id.as_str(), Time(now)), |row| {
        row.get::<_, [u8; 32]>(0)
    });
    Ok(digest.optional()?.map(BodyDigest::from))
}

/// Leases the oldest events that no lease holds at `now`.
fn take(
    transaction: &Transaction<'_>,
    count: usize,
    now: SystemTime,
    until: SystemTime,
) -> Result<Vec<Queued>, DatabaseError> {
    let mut visible = transaction.prepare_cached(
        "SELECT seq FROM (
             SELECT seq FROM (
                 SELECT seq FROM webhook_received INDEXED BY webhook_received_new
                 WHERE leased_until IS NULL ORDER BY seq LIMIT ?2)
             UNION ALL
             SELECT seq FROM webhook_received INDEXED BY webhook_received_leased WHERE leased_until <= ?1
         ) ORDER BY seq LIMIT ?2",
    )?;
    let visible = visible
        .query_map((Time(now), limit(count)), |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    if visible.is_empty() {
        // an idle worker costs no write
        return Ok(Vec::new());
    }
    let mut lease = transaction.prepare_cached(
        "UPDATE webhook_received SET leased_until = ?2, takes = takes + 1, lease = ?3 WHERE seq = ?1
         RETURNING source, event, lease, body, takes",
    )?;
    let mut next = first_lease(transaction, visible.len())?;
    let taken = visible.into_iter().map(|seq| {
        let queued = lease.query_row((seq, Time(until), next), queued)?;
        next += 1;
        Ok(queued)
    });
    taken.collect()
}

/// Reserves `count` unused lease numbers; returns the first.
fn first_lease(transaction: &Transaction<'_>, count: usize) -> Result<i64, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("UPDATE webhook_lease SET last = last + ?1 RETURNING last - ?1 + 1")?;
    Ok(statement.query_row([limit(count)], |row| row.get(0))?)
}

fn queued(row: &Row<'_>) -> rusqlite::Result<Queued> {
    let Term(id) = row.get(1)?;
    let Number(lease) = row.get(2)?;
    let ticket = Ticket {
        key: EventKey {
            source: row.get(0)?,
            id,
        },
        lease,
    };
    Ok(Queued {
        ticket,
        body: Bytes::from(row.get::<_, Vec<u8>>(3)?),
        attempt: row.get(4)?,
    })
}
