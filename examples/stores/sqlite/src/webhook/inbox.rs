//! Claims of received events (W7) and their queue (W8), in `webhook_claim` and `webhook_received`.
//!
//! One transaction writes both, so an event is claimed and queued, or neither. A duplicate is
//! therefore acknowledged only after its first copy is stored.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::{OptionalExtension, Row, Transaction};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{BodyDigest, Claim, Dedupe, EventKey, Finish, Inbox, Incoming, Queued, Ticket};

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
        let finish = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "DELETE FROM webhook_received WHERE lease = ?1 AND source = ?2 AND event = ?3",
            )?;
            let key = &ticket.key;
            let rows = statement.execute((Number(ticket.lease), &key.source, key.id.as_str()))?;
            Ok(if rows == 0 { Finish::Stale } else { Finish::Done })
        });
        Ok(finish.await?)
    }
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
        "SELECT seq FROM webhook_received WHERE leased_until IS NULL OR leased_until <= ?1 ORDER BY seq LIMIT ?2",
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
