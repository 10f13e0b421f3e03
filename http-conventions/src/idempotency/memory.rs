//! A store for one process, and for tests.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;

use super::{
    Claim, ClaimOutcome, Fence, IdempotencyStore, Outcome, Record, RecordKey, Settled, State, StoreError,
    decide,
};

/// Below this size a sweep is not worth its time.
const SMALLEST_SWEEP: usize = 1024;

/// Keeps records in memory: gone with the process, and invisible to any other.
///
/// Expired records are swept whenever the number of records has doubled since the last sweep.
#[derive(Debug, Default)]
pub struct MemoryIdempotencyStore {
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    by_key: HashMap<RecordKey, Record>,
    sweep_at: usize,
}

impl MemoryIdempotencyStore {
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

impl Records {
    fn sweep(&mut self, now: SystemTime) {
        if self.by_key.len() >= self.sweep_at.max(SMALLEST_SWEEP) {
            self.by_key.retain(|_, record| now < record.expires_at);
            self.sweep_at = self.by_key.len().saturating_mul(2);
        }
    }

    fn held_by(&mut self, key: &RecordKey, fence: &Fence) -> Option<&mut Record> {
        self.by_key.get_mut(key).filter(
            |record| matches!(&record.state, State::InFlight { fence: holder, .. } if holder == fence),
        )
    }
}

#[async_trait]
impl IdempotencyStore for MemoryIdempotencyStore {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let mut records = self.records();
        let outcome = decide(records.by_key.get(&claim.key).cloned(), claim, now);
        if outcome == ClaimOutcome::Claimed {
            records.sweep(now);
            records.by_key.insert(claim.key, claim.record());
        }
        Ok(outcome)
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: Outcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        let mut records = self.records();
        let Some(record) = records.held_by(key, fence) else {
            return Ok(Settled::Fenced);
        };
        record.state = State::Settled(outcome);
        record.expires_at = expires_at;
        Ok(Settled::Done)
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        let mut records = self.records();
        if records.held_by(key, fence).is_none() {
            return Ok(Settled::Fenced);
        }
        records.by_key.remove(key);
        Ok(Settled::Done)
    }
}
