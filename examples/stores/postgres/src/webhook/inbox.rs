//! Claims of received events (W7), their queue (W8) and its dead letters (W26), in `webhook_claim`,
//! `webhook_received` and `webhook_buried`. Acknowledgement of an event in a transaction of the
//! host (H23).
//!
//! One statement writes both, so an event is claimed and queued, or neither. A duplicate is
//! therefore acknowledged only after its first copy is stored.

use std::error::Error;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use sqlx::{PgConnection, PgExecutor, PgPool};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{
    BodyDigest, Buried, BuriedQuery, Claim, Dedupe, EventKey, Fenced, Finish, Inbox, Incoming, Queued,
    Receipt, Ticket, WorkFailure,
};

use crate::column::{limit, nanoseconds, number, term, text, time};
use crate::database::{Database, DatabaseError};

#[async_trait]
impl Dedupe for Database {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        let claim = self.run(|pool| async move { claim_and_enqueue(&pool, &event, now).await });
        Ok(claim.await?)
    }
}

#[async_trait]
impl Inbox for Database {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        let until = now.checked_add(lease).unwrap_or(now);
        let taken = self.run(move |pool| async move { take(&pool, limit, now, until).await });
        Ok(taken.await?)
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        let ticket = ticket.clone();
        let finish = self.run(|pool| async move { finish(&pool, &ticket).await });
        Ok(finish.await?)
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        let ticket = ticket.clone();
        let retried = self.run(move |pool| async move { retry_at(&pool, &ticket, at).await });
        Ok(retried.await?)
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        let (ticket, reason) = (ticket.clone(), Buried::kept_reason(reason).to_owned());
        let buried = self.run(move |pool| async move { bury(&pool, &ticket, &reason, now).await });
        Ok(buried.await?)
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        let query = query.clone();
        Ok(self
            .run(|pool| async move { buried(&pool, &query).await })
            .await?)
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        let statement = "WITH buried AS (
                 DELETE FROM webhook_buried WHERE seq = $1 RETURNING source, event, body
             )
             INSERT INTO webhook_received (source, event, body) SELECT source, event, body FROM buried";
        let replayed = self.run(move |pool| async move { change(&pool, statement, number).await });
        Ok(replayed.await?)
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        let statement = "DELETE FROM webhook_buried WHERE seq = $1";
        let discarded = self.run(move |pool| async move { change(&pool, statement, number).await });
        Ok(discarded.await?)
    }
}

/// Acknowledges an event in the caller's transaction, which also writes the rows of the work. See
/// [`Worker::run_in_transaction`].
///
/// Effects outside the database may run again: if the process crashes before the commit, the event
/// is taken again after its lease. Until the transaction has ended, [`Inbox::take`] skips the
/// event, and another end of the same lease waits.
///
/// ```no_run
/// use host_store_postgres::{Database, DatabaseError, inbox, sqlx};
/// use webhook_core::receiver::{Queued, Receipt, WorkFailure};
///
/// // the future for `Worker::run_in_transaction`
/// async fn record_payment(database: &Database, event: &Queued) -> Result<Receipt, WorkFailure> {
///     let mut transaction = database.pool().begin().await.map_err(DatabaseError::from)?;
///     let insert = sqlx::query("INSERT INTO payment (amount) VALUES (500)");
///     insert.execute(&mut *transaction).await.map_err(DatabaseError::from)?;
///     // an error drops the transaction, which rolls back
///     let receipt = inbox::complete_in(&mut transaction, &event.ticket).await??;
///     transaction.commit().await.map_err(DatabaseError::from)?;
///     Ok(receipt)
/// }
/// ```
///
/// # Errors
///
/// [`DatabaseError`], or [`Fenced`] if the worker no longer holds the event. The caller must roll
/// its transaction back in both cases.
///
/// [`Worker::run_in_transaction`]: webhook_core::receiver::Worker::run_in_transaction
pub async fn complete_in(
    connection: &mut PgConnection,
    ticket: &Ticket,
) -> Result<Result<Receipt, Fenced>, DatabaseError> {
    Ok(ticket.receipt(finish(connection, ticket).await?))
}

impl From<DatabaseError> for WorkFailure {
    /// Temporary, with the cause in its reason.
    fn from(error: DatabaseError) -> Self {
        let cause = error.source().map(|cause| format!(": {cause}"));
        Self::Temporary(format!("{error}{}", cause.unwrap_or_default()))
    }
}

/// Claims the event, or returns the claim that exists.
///
/// That claim can expire and be purged between the two statements; then the first is tried again.
/// Each statement alone is the whole operation if it has a result.
async fn claim_and_enqueue(pool: &PgPool, event: &Incoming, now: SystemTime) -> Result<Claim, DatabaseError> {
    loop {
        if try_claim(pool, event, now).await? {
            return Ok(Claim::Enqueued);
        }
        match live_claim(pool, &event.key, now).await? {
            Some(digest) if digest == event.digest => return Ok(Claim::Duplicate),
            Some(_) => return Ok(Claim::Conflict),
            None => {}
        }
    }
}

async fn try_claim(pool: &PgPool, event: &Incoming, now: SystemTime) -> Result<bool, DatabaseError> {
    let claimed = sqlx::query_scalar(
        "WITH claimed AS (
             INSERT INTO webhook_claim AS claim (source, event, digest, expires_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (source_digest, event) DO UPDATE
                 SET digest = excluded.digest, expires_at = excluded.expires_at WHERE claim.expires_at <= $5
             RETURNING source, event
         ), queued AS (
             INSERT INTO webhook_received (source, event, body) SELECT source, event, $6 FROM claimed
         )
         SELECT EXISTS (SELECT FROM claimed)",
    )
    .bind(event.key.source.as_bytes())
    .bind(event.key.id.as_str())
    .bind(&event.digest.as_bytes()[..])
    .bind(nanoseconds(event.expires_at))
    .bind(nanoseconds(now))
    .bind(&event.body[..]);
    Ok(claimed.fetch_one(pool).await?)
}

async fn live_claim(
    pool: &PgPool,
    key: &EventKey,
    now: SystemTime,
) -> Result<Option<BodyDigest>, DatabaseError> {
    let digest: Option<Vec<u8>> = sqlx::query_scalar(
        "SELECT digest FROM webhook_claim WHERE source_digest = sha256($1) AND event = $2 AND expires_at > $3",
    )
    .bind(key.source.as_bytes())
    .bind(key.id.as_str())
    .bind(nanoseconds(now))
    .fetch_optional(pool)
    .await?;
    let digest = digest.map(|digest| <[u8; 32]>::try_from(digest.as_slice()).map(BodyDigest::from));
    digest.transpose().map_err(DatabaseError::corrupt)
}

/// Leases the oldest events that no lease holds at `now`.
async fn take(
    pool: &PgPool,
    count: usize,
    now: SystemTime,
    until: SystemTime,
) -> Result<Vec<Queued>, DatabaseError> {
    let taken: Vec<Columns> = sqlx::query_as(
        "WITH fresh AS MATERIALIZED (
             SELECT seq FROM webhook_received WHERE leased_until IS NULL
             ORDER BY seq LIMIT $2 FOR UPDATE SKIP LOCKED
         ), due AS MATERIALIZED (
             SELECT seq FROM webhook_received WHERE leased_until <= $1
             ORDER BY seq LIMIT $2 FOR UPDATE SKIP LOCKED
         ), taken AS (
             UPDATE webhook_received
             SET leased_until = $3, lease = nextval('webhook_lease'), takes = takes + 1
             WHERE seq = ANY(ARRAY(
                 SELECT seq FROM (SELECT seq FROM fresh UNION ALL SELECT seq FROM due) AS visible
                 ORDER BY seq LIMIT $2
             ))
             RETURNING seq, source, event, lease, body, takes
         )
         SELECT source, event, lease, body, takes FROM taken ORDER BY seq",
    )
    .bind(nanoseconds(now))
    .bind(limit(count))
    .bind(nanoseconds(until))
    .fetch_all(pool)
    .await?;
    readable(taken.into_iter().map(queued))
}

/// The readable ones. An unreadable event is an error only if it is alone; it returns after its
/// lease.
fn readable<T>(taken: impl Iterator<Item = Result<T, DatabaseError>>) -> Result<Vec<T>, DatabaseError> {
    let (mut read, mut error) = (Vec::new(), None);
    for event in taken {
        match event {
            Ok(event) => read.push(event),
            Err(unreadable) => error = Some(unreadable),
        }
    }
    error.filter(|_| read.is_empty()).map_or(Ok(read), Err)
}

/// Columns in the order of the query.
type Columns = (Vec<u8>, String, i64, Vec<u8>, i64);

fn queued((source, event, lease, body, takes): Columns) -> Result<Queued, DatabaseError> {
    let key = EventKey {
        source: text(source)?,
        id: term(&event)?,
    };
    Ok(Queued {
        ticket: Ticket {
            key,
            lease: number(lease)?,
        },
        body: Bytes::from(body),
        attempt: number(takes)?,
    })
}

async fn finish(executor: impl PgExecutor<'_>, ticket: &Ticket) -> Result<Finish, DatabaseError> {
    let finished =
        sqlx::query("DELETE FROM webhook_received WHERE lease = $1 AND source = $2 AND event = $3")
            .bind(ticket.lease.cast_signed())
            .bind(ticket.key.source.as_bytes())
            .bind(ticket.key.id.as_str())
            .execute(executor)
            .await?;
    Ok(ended(finished.rows_affected()))
}

async fn retry_at(pool: &PgPool, ticket: &Ticket, at: SystemTime) -> Result<Finish, DatabaseError> {
    let retried = sqlx::query(
        "UPDATE webhook_received SET lease = NULL, leased_until = $4
         WHERE lease = $1 AND source = $2 AND event = $3",
    )
    .bind(ticket.lease.cast_signed())
    .bind(ticket.key.source.as_bytes())
    .bind(ticket.key.id.as_str())
    .bind(nanoseconds(at))
    .execute(pool)
    .await?;
    Ok(ended(retried.rows_affected()))
}

async fn bury(
    pool: &PgPool,
    ticket: &Ticket,
    reason: &str,
    now: SystemTime,
) -> Result<Finish, DatabaseError> {
    let buried = sqlx::query(
        "WITH failed AS (
             DELETE FROM webhook_received WHERE lease = $1 AND source = $2 AND event = $3
             RETURNING seq, source, event, takes, body
         )
         INSERT INTO webhook_buried (seq, source, event, takes, reason, buried_at, body)
         SELECT seq, source, event, takes, $4, $5, body FROM failed",
    )
    .bind(ticket.lease.cast_signed())
    .bind(ticket.key.source.as_bytes())
    .bind(ticket.key.id.as_str())
    .bind(reason.as_bytes())
    .bind(nanoseconds(now))
    .execute(pool)
    .await?;
    Ok(ended(buried.rows_affected()))
}

/// Result of a change of this number of rows.
fn ended(rows: u64) -> Finish {
    if rows == 0 { Finish::Stale } else { Finish::Done }
}

/// Columns of a dead letter in the order of the query.
type BuriedColumns = (i64, Vec<u8>, String, i64, Vec<u8>, i64, Vec<u8>);

async fn buried(pool: &PgPool, query: &BuriedQuery) -> Result<Vec<Buried>, DatabaseError> {
    let statement = if query.source.is_some() {
        "SELECT seq, source, event, takes, reason, buried_at, body FROM webhook_buried
         WHERE source_digest = sha256($1) AND seq > $2 ORDER BY seq LIMIT $3"
    } else {
        "SELECT seq, source, event, takes, reason, buried_at, body FROM webhook_buried
         WHERE $1::bytea IS NULL AND seq > $2 ORDER BY seq LIMIT $3"
    };
    let found: Vec<BuriedColumns> = sqlx::query_as(statement)
        .bind(query.source.as_deref().map(str::as_bytes))
        .bind(query.after.map_or(i64::MIN, u64::cast_signed))
        .bind(limit(query.limit))
        .fetch_all(pool)
        .await?;
    let buried = |(seq, source, event, takes, reason, buried_at, body): BuriedColumns| {
        Ok(Buried {
            number: number(seq)?,
            key: EventKey {
                source: text(source)?,
                id: term(&event)?,
            },
            body: Bytes::from(body),
            attempts: number(takes)?,
            reason: text(reason)?,
            buried_at: time(buried_at)?,
        })
    };
    found.into_iter().map(buried).collect()
}

/// Runs a statement on the dead letter `$1`; returns `true` if there was one.
async fn change(pool: &PgPool, statement: &'static str, number: u64) -> Result<bool, DatabaseError> {
    let changed = sqlx::query(statement)
        .bind(number.cast_signed())
        .execute(pool)
        .await?;
    Ok(changed.rows_affected() > 0)
}
