use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, lock};
use crate::attempts::{Admission, AttemptDecision, AttemptKey, AttemptPolicy, Tally};
use crate::ports::StoreError;
use crate::store::AttemptStore;

/// How many names are remembered unless said otherwise: some ten megabytes.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(99_999);

/// Attempts in memory: 100,000 names at once, or as many as it is told.
///
/// When all are taken it lets go of the forgotten ones, and failing these of the eighth with the fewest attempts, those that are
/// open first: a flood of new names makes room for itself among names that were tried as little.
///
/// # Security
///
/// Give each kind of attempt a store of its own. A client's secret costs an attacker next to nothing to try, a password a turn of the
/// host's hash function: in one store a flood of the first, a few attempts a name, makes room among the second. And each process
/// counts alone: behind three of them there are three times as many attempts (`host-store-sqlite` and `host-store-postgres` among the examples count for all).
#[derive(Debug)]
pub struct MemoryAttempts {
    tallies: Mutex<HashMap<AttemptKey, Tally>>,
    capacity: NonZeroUsize,
}

impl MemoryAttempts {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    /// An empty store of so many names.
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

/// At least an eighth at a time, so that a flood pays for the search once in many names.
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
