//! A store for one process, and for tests.

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

/// Below this number of records a sweep is not worth its time.
const SMALLEST_SWEEP: usize = 1024;
/// How often a full store looks for expired records at most.
const SWEEP_PAUSE: Duration = Duration::from_secs(1);
/// Sixty-four of the largest answers that are kept by default, or a hundred thousand small ones.
const CAPACITY: usize = 64 << 20;
/// What a record takes without its answer, with the share of the table that is empty.
const RECORD: usize = 2 * size_of::<(RecordKey, Record)>();

/// Keeps records in memory of a bounded size: gone with the process, and invisible to any other.
///
/// Expired records are swept whenever the number of records has doubled since the last sweep, and once a second while the store
/// is full. No other is ever forgotten for a new one, as its request would run twice. Where there is no room
///
/// - for a record, a claim fails as [`StoreErrorKind::Unavailable`](crate::ports::StoreErrorKind::Unavailable), and its request is
///   answered by 503 before anything ran;
/// - for an answer, its record is settled as [`RequestOutcome::Unreplayable`]: the answer goes out, and the request never runs again.
///
/// # Security
///
/// The room is one for all callers. Whoever may send any number of keys can fill it for the lifetime of a record: limit the rate
/// of requests before, or what is kept of an answer by
/// [`with_max_stored_body`](super::Idempotency::with_max_stored_body).
#[derive(Debug)]
pub struct MemoryIdempotencyStore {
    records: Mutex<Records>,
}

#[derive(Debug)]
struct Records {
    by_key: HashMap<RecordKey, Record>,
    /// What they take, and may take.
    bytes: usize,
    capacity: usize,
    sweep_at: usize,
    swept_at: Option<SystemTime>,
    /// When the latest claim came: completions do not say their time.
    now: SystemTime,
}

impl MemoryIdempotencyStore {
    /// Room for so many bytes of records, answers included; 64 MiB unless told otherwise.
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

    /// The number of records, expired ones that are not swept yet included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records().by_key.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryIdempotencyStore {
    /// Room for 64 MiB.
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl Records {
    /// Whether there is room for so many bytes more, after a sweep if need be.
    fn has_room(&mut self, bytes: usize) -> bool {
        let fits = |records: &Self| records.bytes.saturating_add(bytes) <= records.capacity;
        // a clock that was set back has its pause anew
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
            // the place of an older record of this key is its own
            let needed = if records.by_key.contains_key(&claim.key) {
                0
            } else {
                RECORD
            };
            if !records.has_room(needed) {
                return Err(StoreError::unavailable("there is no room for another record"));
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
        // a sweep may have taken it: what expires while it runs is forgotten
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
