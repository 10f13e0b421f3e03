//! Rate-limit store for one process, with a fixed size.

use std::{
    collections::hash_map::RandomState,
    fmt,
    hash::{BuildHasher, Hasher as _},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;

use super::{
    RateLimitDecision, RateLimitStore, Spend, State, decide_all,
    gcra::{decide_at, nanoseconds},
};
use crate::ports::StoreError;

/// Buckets per set: a lookup compares at most this many.
const WAYS: usize = 16;
const SHARDS: usize = 64;
/// Default number of callers: 100,000, in 3.2 MB of memory.
const CALLERS: usize = 100_000;

/// In-memory rate-limit store of a fixed size. The buckets are lost when the process ends, and are
/// not shared with other processes.
///
/// A full bucket carries no information, so a new bucket can take the slot of a full bucket. The
/// slots are in sets of 16, and the hash of a bucket's name selects the set. If no bucket of the
/// set is full, the new bucket replaces the bucket that will be full first.
///
/// # Security
///
/// - A caller that uses many names can make the store drop buckets that are almost full. The caller
///   cannot make the store grow, and an empty bucket is dropped last.
/// - Names are hashed with random keys of the process (64-bit SipHash), so a caller cannot choose a
///   name that replaces the bucket of a particular other caller.
pub struct MemoryRateLimitStore {
    hasher: RandomState,
    shards: Vec<Mutex<Box<[Set]>>>,
    sets_per_shard: usize,
}

/// Slot of a bucket: the hash of its name, and its state. Both are in one cache line. An unused
/// slot is all zeros.
#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u64,
    state: u64,
}

type Set = [Slot; WAYS];

/// Location of a bucket.
#[derive(Clone, Copy)]
struct Place {
    tag: u64,
    shard: usize,
    set: usize,
}

impl MemoryRateLimitStore {
    /// Creates a store for this many active callers, that is, callers whose bucket is not full.
    /// Count a caller once for each policy.
    ///
    /// At that number, the store drops about one bucket in a few hundred before the bucket is full;
    /// at half of that number, fewer than one in a million.
    ///
    /// # Performance
    ///
    /// Allocates 32 bytes for each caller immediately, and no memory later.
    #[must_use]
    pub fn with_capacity(callers: usize) -> Self {
        let sets_per_shard = callers.saturating_mul(2).div_ceil(WAYS * SHARDS).max(1);
        let shard = || Mutex::new(vec![Set::default(); sets_per_shard].into_boxed_slice());
        Self {
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| shard()).collect(),
            sets_per_shard,
        }
    }

    /// Number of buckets that the store can hold. It is constant.
    #[must_use]
    pub fn slots(&self) -> usize {
        SHARDS * self.sets_per_shard * WAYS
    }

    /// Takes the cost of `spend` from its bucket synchronously, for a host with one policy in one
    /// process.
    #[must_use = "a request that is denied must not go on"]
    pub fn take(&self, spend: &Spend<'_>, now: SystemTime) -> RateLimitDecision {
        let (now, place) = (nanoseconds(now), self.place(spend));
        let decide = |state| decide_at(state, spend.policy().quota(), spend.cost(), now);
        let mut shard = self.shards.get(place.shard).map(lock);
        let Some(set) = shard.as_mut().and_then(|sets| sets.get_mut(place.set)) else {
            return decide(State::default());
        };
        let way = own(set, place);
        let decision = decide(state_of(set, way));
        if let RateLimitDecision::Allowed { state } = decision {
            keep(set, way, place, state, now);
        }
        decision
    }

    fn place(&self, spend: &Spend<'_>) -> Place {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(spend.policy().tag());
        hasher.write(spend.partition().as_bytes());
        let tag = hasher.finish();
        // the high bits select the set and the low bits the shard; multiplying avoids a division
        let scaled = (u128::from(tag) * self.sets_per_shard as u128) >> 64;
        Place {
            tag,
            shard: usize::try_from(tag % SHARDS as u64).unwrap_or_default(),
            set: usize::try_from(scaled).unwrap_or_default(),
        }
    }

    /// Locks the shards of all these locations, each once and in one order, which prevents
    /// deadlocks.
    fn lock_all(&self, places: &[Place]) -> Vec<(usize, MutexGuard<'_, Box<[Set]>>)> {
        let mut shards: Vec<usize> = places.iter().map(|place| place.shard).collect();
        shards.sort_unstable();
        shards.dedup();
        let locked = shards.into_iter();
        locked
            .filter_map(|number| Some((number, lock(self.shards.get(number)?))))
            .collect()
    }
}

fn lock(shard: &Mutex<Box<[Set]>>) -> MutexGuard<'_, Box<[Set]>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Slots of a set in search order, starting at the preferred slot.
fn ways(place: Place) -> impl Iterator<Item = usize> {
    let home = usize::try_from(place.tag >> 6 & 0xFF).unwrap_or_default();
    (home..home + WAYS).map(|way| way % WAYS)
}

/// Slot of a bucket; `None` if it has none. Used slots never become unused, so the search ends at
/// an unused slot.
fn own(set: &Set, place: Place) -> Option<usize> {
    for way in ways(place) {
        let slot = set.get(way)?;
        if slot.tag == place.tag {
            return Some(way);
        }
        if slot.state == 0 {
            return None;
        }
    }
    None
}

/// State of the bucket in this slot; a full bucket if there is no slot.
fn state_of(set: &Set, own: Option<usize>) -> State {
    let slot = own.and_then(|way| set.get(way));
    State::from_nanoseconds(slot.map_or(0, |slot| slot.state))
}

/// Writes a bucket to its own slot, or else over the nearest full bucket, or else over the bucket
/// that will be full first.
fn keep(set: &mut Set, own: Option<usize>, place: Place, state: State, now: u64) {
    let owed = |way: &usize| set.get(*way).map_or(0, |slot| slot.state.saturating_sub(now));
    let way = own
        .or_else(|| ways(place).find(|way| owed(way) == 0))
        .or_else(|| ways(place).min_by_key(owed));
    if let Some(slot) = way.and_then(|way| set.get_mut(way)) {
        *slot = Slot {
            tag: place.tag,
            // zero marks an unused slot
            state: state.as_nanoseconds().max(1),
        };
    }
}

#[async_trait]
impl RateLimitStore for MemoryRateLimitStore {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let places: Vec<Place> = spends.iter().map(|spend| self.place(spend)).collect();
        let mut locked = self.lock_all(&places);
        let found = |shard: usize| locked.iter().find(move |(number, _)| *number == shard);
        let states: Vec<State> = places
            .iter()
            .map(|place| {
                let set = found(place.shard).and_then(|(_, sets)| sets.get(place.set));
                set.map_or_else(State::default, |set| state_of(set, own(set, *place)))
            })
            .collect();
        for (place, state) in places
            .iter()
            .zip(decide_all(&states, spends, now).unwrap_or_default())
        {
            let shard = locked.iter_mut().find(|(number, _)| *number == place.shard);
            if let Some(set) = shard.and_then(|(_, sets)| sets.get_mut(place.set)) {
                let way = own(set, *place);
                keep(set, way, *place, state, nanoseconds(now));
            }
        }
        Ok(states)
    }
}

impl Default for MemoryRateLimitStore {
    /// A store for 100,000 callers, in 3.2 MB of memory.
    fn default() -> Self {
        Self::with_capacity(CALLERS)
    }
}

impl fmt::Debug for MemoryRateLimitStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRateLimitStore")
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}
