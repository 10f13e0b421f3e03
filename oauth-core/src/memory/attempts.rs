use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, lock};
use crate::attempts::{Admission, AttemptDecision, AttemptKey, AttemptPolicy, Tally};
use crate::ports::StoreError;
use crate::store::AttemptStore;

/// Default number of keys: about ten megabytes.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(99_999);

/// Attempt store in memory. Capacity: 100,000 keys by default.
///
/// A full store evicts forgotten tallies. If these are less than an eighth of the capacity, it
/// evicts further tallies up to that number: those without a running wait first, then those with
/// the fewest attempts. A flood of new keys therefore evicts keys with few attempts.
///
/// # Security
///
/// - Use a separate store for each kind of attempt. In a shared store a flood of cheap attempts at
///   client secrets evicts the counts of passwords.
/// - Each process counts alone: three processes admit three times as many attempts. The stores of
///   the examples `host-store-sqlite` and `host-store-postgres` count for all processes.
#[derive(Debug)]
pub struct MemoryAttempts {
    tallies: Mutex<HashMap<AttemptKey, Tally>>,
    capacity: NonZeroUsize,
}

impl MemoryAttempts {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    /// Creates an empty store with this capacity.
    #[must_use]
    pub fn with_capacity(capacity: NonZeroUsize) -> Self {
        Self {
            tallies: Mutex::default(),
            capacity,
        }
    }
}

impl Default for MemoryAttempts {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl AttemptStore for MemoryAttempts {
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError> {
        let mut tallies = lock(&self.tallies);
        match policy.decide(tallies.get(key), now) {
            AttemptDecision::Refuse { retry_after } => Ok(Admission::Refused { retry_after }),
            AttemptDecision::Admit(tally) => {
                if tallies.len() >= self.capacity.get() && !tallies.contains_key(key) {
                    make_room(&mut tallies, self.capacity.get(), now);
                }
                tallies.insert(*key, tally);
                Ok(Admission::Admitted)
            }
        }
    }

    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError> {
        Ok(Tally::standing(lock(&self.tallies).get(key), now))
    }

    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError> {
        lock(&self.tallies).remove(key);
        Ok(())
    }

    async fn purge_attempts(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(count(forget(&mut lock(&self.tallies), now)))
    }
}

fn forget(tallies: &mut HashMap<AttemptKey, Tally>, now: SystemTime) -> usize {
    let before = tallies.len();
    tallies.retain(|_, tally| !tally.is_forgotten(now));
    before - tallies.len()
}

/// At least an eighth at a time, so that a flood searches once for many keys.
fn make_room(tallies: &mut HashMap<AttemptKey, Tally>, capacity: usize, now: SystemTime) {
    let room = (capacity / 8).max(1);
    let forgotten = forget(tallies, now);
    let Some(short) = room.checked_sub(forgotten).filter(|short| *short > 0) else {
        return;
    };
    let weight = |tally: &Tally| {
        let is_closed = !Tally::standing(Some(tally), now).is_admitted();
        (is_closed, tally.attempts, tally.forgotten_at)
    };
    let mut weights: Vec<_> = tallies.iter().map(|(key, tally)| (weight(tally), *key)).collect();
    let (lightest, last, _) = weights.select_nth_unstable(short - 1);
    for (_, key) in lightest.iter().chain([&*last]) {
        tallies.remove(key);
    }
}
