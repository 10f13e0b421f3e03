//! Idempotency store for one process, and for tests.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;

use super::{
    Claim, ClaimOutcome, Fence, IdempotencyStore, Record, RecordKey, RequestOutcome, Settled, State,
    StoredResponse, decide,
};
use crate::ports::StoreError;

/// Minimum number of records at which a sweep starts.
const SMALLEST_SWEEP: usize = 1024;
/// Minimum time between two sweeps of a full store.
const SWEEP_PAUSE: Duration = Duration::from_secs(1);
/// Default capacity in bytes: enough for 64 responses of the largest size that is stored by
/// default, or for 100,000 small responses.
const CAPACITY: usize = 64 << 20;
/// Size of a record without its response, with its share of unused table space.
const RECORD: usize = 2 * size_of::<(RecordKey, Record)>();

/// In-memory idempotency store of bounded size. The records are lost when the process ends, and are
/// not shared with other processes.
///
/// The store sweeps expired records when the number of records has doubled since the last sweep,
/// and at most once per second while it is full. It never drops a live record: the request could
/// then run twice. A full store responds as follows:
///
/// - A claim fails with [`StoreErrorKind::Unavailable`](crate::ports::StoreErrorKind::Unavailable):
///   the request gets 503, and its handler does not run.
/// - A completion is stored as [`RequestOutcome::Unreplayable`]: the response is sent, and the
///   request never runs again.
///
/// # Security
///
/// All callers share the capacity. A caller that sends many keys can fill the store for the
/// lifetime of a record. Limit the rate of requests, or the size of a stored body with
/// [`with_max_stored_body`](super::Idempotency::with_max_stored_body).
#[derive(Debug)]
pub struct MemoryIdempotencyStore {
    records: Mutex<Records>,
}

#[derive(Debug)]
struct Records {
    by_key: HashMap<RecordKey, Record>,
    /// Bytes in use, and their limit.
    bytes: usize,
    capacity: usize,
    sweep_at: usize,
    swept_at: Option<SystemTime>,
    /// Time of the latest claim. Completions use it, because they take no time as an argument.
    now: SystemTime,
}

impl MemoryIdempotencyStore {
    /// Creates a store that holds up to this many bytes of records, including their responses. The
    /// [default](Self::default) is 64 MiB.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let records = Records {
            by_key: HashMap::new(),
            bytes: 0,
            capacity: bytes,
            sweep_at: SMALLEST_SWEEP,
            swept_at: None,
            now: SystemTime::UNIX_EPOCH,
        };
        Self {
            records: Mutex::new(records),
        }
    }

    /// Number of records, including expired records that are not swept yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records().by_key.len()
    }

    /// Returns `true` if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryIdempotencyStore {
    /// A store of 64 MiB.
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl Records {
    /// Returns `true` if this many bytes fit, after a sweep if necessary.
    fn has_room(&mut self, bytes: usize) -> bool {
        let fits = |records: &Self| records.bytes.saturating_add(bytes) <= records.capacity;
        // a clock that was set back allows a sweep at once
        let since = self.swept_at.and_then(|at| self.now.duration_since(at).ok());
        if !fits(self) && since.is_none_or(|since| since >= SWEEP_PAUSE) {
            self.sweep();
        }
        fits(self)
    }

    fn sweep(&mut self) {
        let (now, mut left) = (self.now, 0);
        self.by_key.retain(|_, record| {
            let is_live = now < record.expires_at;
            left += if is_live { size(record) } else { 0 };
            is_live
        });
        self.bytes = left;
        self.sweep_at = self.by_key.len().saturating_mul(2).max(SMALLEST_SWEEP);
        self.swept_at = Some(now);
    }

    fn insert(&mut self, key: RecordKey, record: Record) {
        self.bytes += size(&record);
        if let Some(before) = self.by_key.insert(key, record) {
            self.bytes -= size(&before);
        }
    }

    fn is_held(&self, key: &RecordKey, fence: &Fence) -> bool {
        let state = self.by_key.get(key).map(|record| &record.state);
        matches!(state, Some(State::InFlight { fence: holder, .. }) if holder == fence)
    }
}

fn size(record: &Record) -> usize {
    match &record.state {
        State::Settled(outcome) => RECORD + answer_size(outcome),
        State::InFlight { .. } => RECORD,
    }
}

fn answer_size(outcome: &RequestOutcome) -> usize {
    let RequestOutcome::Completed(StoredResponse { headers, body, .. }) = outcome else {
        return 0;
    };
    let lines = headers.iter();
    let lines = lines.map(|(name, value)| size_of::<(String, Bytes)>() + name.len() + value.len());
    lines.sum::<usize>() + body.len()
}

#[async_trait]
impl IdempotencyStore for MemoryIdempotencyStore {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let mut records = self.records();
        let existing = records.by_key.get(&claim.key).cloned();
        let outcome = decide(existing, claim, now);
        if outcome == ClaimOutcome::Claimed {
            records.now = now;
            if records.by_key.len() >= records.sweep_at {
                records.sweep();
            }
            // a record that replaces an older one of the same key needs no room
            let needed = if records.by_key.contains_key(&claim.key) {
                0
            } else {
                RECORD
            };
            if !records.has_room(needed) {
                return Err(StoreError::unavailable("no room for another record"));
            }
            records.insert(claim.key, claim.record());
        }
        Ok(outcome)
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        let mut records = self.records();
        if !records.is_held(key, fence) {
            return Ok(Settled::Fenced);
        }
        let has_room = records.has_room(answer_size(&outcome));
        // the sweep may have removed the record, if it expired while its request ran
        let Some(record) = records.by_key.get_mut(key) else {
            return Ok(Settled::Fenced);
        };
        let outcome = match outcome {
            RequestOutcome::Completed(answer) if !has_room => RequestOutcome::Unreplayable {
                status: answer.status,
            },
            outcome => outcome,
        };
        let kept = answer_size(&outcome);
        record.state = State::Settled(outcome);
        record.expires_at = expires_at;
        records.bytes += kept;
        Ok(Settled::Done)
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        let mut records = self.records();
        if !records.is_held(key, fence) {
            return Ok(Settled::Fenced);
        }
        if let Some(released) = records.by_key.remove(key) {
            records.bytes -= size(&released);
        }
        Ok(Settled::Done)
    }
}
