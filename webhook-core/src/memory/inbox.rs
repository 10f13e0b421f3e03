//! In-memory claims and queue of a receiver.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    ports::StoreError,
    receiver::{BodyDigest, Claim, Dedupe, EventKey, Finish, Inbox, Incoming, Queued, Ticket},
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
        Ok(self.state().finish(ticket))
    }
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
        self.queue.insert(
            self.arrivals,
            Row {
                key,
                body,
                attempt: 0,
                lease: None,
            },
        );
        self.arrivals += 1;
        Claim::Enqueued
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

    fn finish(&mut self, ticket: &Ticket) -> Finish {
        match self
            .leased
            .remove(&ticket.lease)
            .and_then(|arrival| self.queue.remove(&arrival))
        {
            Some(_) => Finish::Done,
            None => Finish::Stale,
        }
    }
}
