use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, lock};
use crate::attempts::{Admission, AttemptDecision, AttemptKey, AttemptPolicy, Tally};
use crate::ports::StoreError;
use crate::store::AttemptStore;

/// Default capacity: 100,000 keys, which take about ten megabytes.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(99_999);

/// Attempt store in memory. Default capacity: 100,000 keys.
///
/// A full store evicts all forgotten tallies. If these are fewer than an eighth of the capacity,
/// the store evicts further tallies up to that number: first tallies without a running wait, and
/// among these the tallies with the fewest attempts. An attacker who floods the store with new keys
/// therefore evicts keys with few attempts first.
///
/// # Security
///
/// - Use a separate store for each kind of attempt. In a shared store, many attempts at client
///   secrets evict the counts of attempts at passwords.
/// - Each process counts separately: three processes admit three times as many attempts. The
///   example stores `host-store-sqlite` and `host-store-postgres` count for all processes together.
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

    /// Creates an empty store for at most `capacity` keys.
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

/// Frees at least an eighth of the capacity, so that not every new key needs a search.
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
