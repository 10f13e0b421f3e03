//! A store for one process that never grows.

use std::{
    collections::hash_map::RandomState,
    fmt,
    hash::{BuildHasher, Hasher as _},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;

use super::{
    RateLimitDecision, RateLimitStore, Spend, State,
    gcra::{decide_at, nanoseconds},
    passes,
};
use crate::ports::StoreError;

/// Buckets that share a place: one is looked for among this many.
const WAYS: usize = 16;
const SHARDS: usize = 64;
/// A hundred thousand callers: four megabytes.
const CALLERS: usize = 100_000;

/// Keeps buckets in memory of a fixed size: gone with the process, and invisible to any other.
///
/// A bucket takes the place of one that is full again, which is as good as none. Should more callers be in debt at once than there
/// is room for, the one that owes least is forgiven: whoever comes under ever new names can make the store forget those that hardly
/// used theirs, and neither make it grow nor free one that is at its limit before those. Names are hashed under keys of the
/// process (64 bits of SipHash), so that nobody can aim at another's place.
pub struct MemoryRateLimitStore {
    hasher: RandomState,
    shards: Vec<Mutex<Box<[Set]>>>,
    sets_per_shard: usize,
}

/// A bucket by the hash of its name, so that one line of the processor's cache has all of it. Zeros were never used.
#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u64,
    state: u64,
}

type Set = [Slot; WAYS];

/// Where a bucket is looked for.
#[derive(Clone, Copy)]
struct Place {
    tag: u64,
    shard: usize,
    set: usize,
}

impl MemoryRateLimitStore {
    /// Room for this many callers in debt under one policy at once: 32 bytes for each, taken now.
    ///
    /// With exactly that many, one in a few hundred is forgiven early; with half as many none in a million.
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

    /// How many buckets there is room for. It stays so.
    #[must_use]
    pub fn slots(&self) -> usize {
        SHARDS * self.sets_per_shard * WAYS
    }

    /// Takes from one bucket, at once: for a host that limits by one policy in one process, without a future.
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
        // the high bits choose the set, the low ones the shard: a product in place of a division
        let scaled = (u128::from(tag) * self.sets_per_shard as u128) >> 64;
        Place {
            tag,
            shard: usize::try_from(tag % SHARDS as u64).unwrap_or_default(),
            set: usize::try_from(scaled).unwrap_or_default(),
        }
    }

    /// The locks of all these places, each shard once and in one order, so that nobody waits in a circle.
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

/// The slots where a bucket may be, from where it is most likely on.
fn ways(place: Place) -> impl Iterator<Item = usize> {
    let home = usize::try_from(place.tag >> 6 & 0xFF).unwrap_or_default();
    (home..home + WAYS).map(|way| way % WAYS)
}

/// The slot of a bucket; absent where it has none. A slot that was used once is never as if it were not, so that a bucket is not
/// behind one that never was.
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

/// The bucket in this slot; full where there is none.
fn state_of(set: &Set, own: Option<usize>) -> State {
    let slot = own.and_then(|way| set.get(way));
    State::from_nanoseconds(slot.map_or(0, |slot| slot.state))
}

/// Writes a bucket in its own slot, or else over the nearest that owes nothing, or over the one that owes least.
fn keep(set: &mut Set, own: Option<usize>, place: Place, state: State, now: u64) {
    let owed = |way: &usize| set.get(*way).map_or(0, |slot| slot.state.saturating_sub(now));
    let way = own
        .or_else(|| ways(place).find(|way| owed(way) == 0))
        .or_else(|| ways(place).min_by_key(owed));
    if let Some(slot) = way.and_then(|way| set.get_mut(way)) {
        *slot = Slot {
            tag: place.tag,
            // zero is a slot that was never used
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
            .zip(passes(&states, spends, now).unwrap_or_default())
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
    /// Room for a hundred thousand callers, in four megabytes.
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
