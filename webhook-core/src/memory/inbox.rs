//! In-memory claims and queue of a receiver.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound::{Excluded, Unbounded},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    ports::StoreError,
    receiver::{
        BodyDigest, Buried, BuriedQuery, Claim, Dedupe, EventKey, Finish, Inbox, Incoming, Queued, Ticket,
    },
};

/// [`Dedupe`] and [`Inbox`] in memory, for one process. All events are lost when the process ends.
///
/// Expired claims are removed when new events arrive.
#[derive(Debug, Default)]
pub struct MemoryInbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    claims: HashMap<EventKey, BodyDigest>,
    expiries: BTreeSet<(SystemTime, EventKey)>,
    /// Key: number of the arrival.
    queue: BTreeMap<u64, Row>,
    arrivals: u64,
    /// From the number of a lease to the number of the arrival.
    leased: HashMap<u64, u64>,
    leases: u64,
    /// Dead letters. Key: number of the arrival.
    buried: BTreeMap<u64, Buried>,
}

#[derive(Debug)]
struct Row {
    key: EventKey,
    body: Bytes,
    attempt: u32,
    /// Number and end of the latest lease.
    lease: Option<(u64, SystemTime)>,
}

#[async_trait]
impl Dedupe for MemoryInbox {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        Ok(self.state().claim_and_enqueue(event, now))
    }
}

#[async_trait]
impl Inbox for MemoryInbox {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        Ok(self.state().take(limit, now, lease))
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        Ok(ended(self.state().end(ticket).map(drop)))
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        let mut state = self.state();
        let ended_row = state.end(ticket);
        Ok(ended(ended_row.map(|(arrival, row)| {
            let lease = Some((ticket.lease, at));
            state.queue.insert(arrival, Row { lease, ..row });
        })))
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        let mut state = self.state();
        let ended_row = state.end(ticket);
        Ok(ended(ended_row.map(|(number, row)| {
            let buried = Buried {
                number,
                key: row.key,
                body: row.body,
                attempts: row.attempt,
                reason: Buried::kept_reason(reason).to_owned(),
                buried_at: now,
            };
            state.buried.insert(number, buried);
        })))
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        let state = self.state();
        let after = query.after.map_or(Unbounded, Excluded);
        let found = state.buried.range((after, Unbounded)).map(|(_, buried)| buried);
        let of_source = |buried: &&Buried| {
            query
                .source
                .as_ref()
                .is_none_or(|source| *source == buried.key.source)
        };
        Ok(found.filter(of_source).take(query.limit).cloned().collect())
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        let mut state = self.state();
        let Some(Buried { key, body, .. }) = state.buried.remove(&number) else {
            return Ok(false);
        };
        state.enqueue(key, body);
        Ok(true)
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        Ok(self.state().buried.remove(&number).is_some())
    }
}

fn ended(row: Option<()>) -> Finish {
    row.map_or(Finish::Stale, |()| Finish::Done)
}

impl MemoryInbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn claim_and_enqueue(&mut self, event: Incoming, now: SystemTime) -> Claim {
        self.forget_ended(now);
        if let Some(digest) = self.claims.get(&event.key) {
            return if *digest == event.digest {
                Claim::Duplicate
            } else {
                Claim::Conflict
            };
        }
        let Incoming {
            key,
            digest,
            body,
            expires_at,
        } = event;
        self.expiries.insert((expires_at, key.clone()));
        self.claims.insert(key.clone(), digest);
        self.enqueue(key, body);
        Claim::Enqueued
    }

    fn enqueue(&mut self, key: EventKey, body: Bytes) {
        let row = Row {
            key,
            body,
            attempt: 0,
            lease: None,
        };
        self.queue.insert(self.arrivals, row);
        self.arrivals += 1;
    }

    fn forget_ended(&mut self, now: SystemTime) {
        while self
            .expiries
            .first()
            .is_some_and(|(expires_at, _)| *expires_at <= now)
        {
            if let Some((_, key)) = self.expiries.pop_first() {
                self.claims.remove(&key);
            }
        }
    }

    fn take(&mut self, limit: usize, now: SystemTime, lease: Duration) -> Vec<Queued> {
        let until = now.checked_add(lease).unwrap_or(now);
        let is_free = |row: &Row| row.lease.is_none_or(|(_, ends_at)| ends_at <= now);
        let mut taken = Vec::new();
        for (arrival, row) in self.queue.iter_mut().filter(|(_, row)| is_free(row)).take(limit) {
            self.leases += 1;
            if let Some((lost, _)) = row.lease.replace((self.leases, until)) {
                self.leased.remove(&lost);
            }
            self.leased.insert(self.leases, *arrival);
            row.attempt = row.attempt.saturating_add(1);
            let ticket = Ticket {
                key: row.key.clone(),
                lease: self.leases,
            };
            taken.push(Queued {
                ticket,
                body: row.body.clone(),
                attempt: row.attempt,
            });
        }
        taken
    }

    /// Ends the lease of this ticket and removes its event from the queue.
    fn end(&mut self, ticket: &Ticket) -> Option<(u64, Row)> {
        let arrival = self.leased.remove(&ticket.lease)?;
        self.queue.remove(&arrival).map(|row| (arrival, row))
    }
}
