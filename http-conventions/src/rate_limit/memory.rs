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
    Decision, RateLimitStore, Spend, State, StoreError,
    gcra::{decide_at, nanoseconds},
    passes,
};

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

/// Buckets by the hash of their names.
#[derive(Clone, Copy)]
struct Set {
    tags: [u64; WAYS],
    states: [u64; WAYS],
}

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
        let empty = Set {
            tags: [0; WAYS],
            states: [0; WAYS],
        };
        let shard = || Mutex::new(vec![empty; sets_per_shard].into_boxed_slice());
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
    pub fn take(&self, spend: &Spend<'_>, now: SystemTime) -> Decision {
        let (now, place) = (nanoseconds(now), self.place(spend));
        let Some(shard) = self.shards.get(place.shard) else {
            return Decision::Allowed {
                state: State::default(),
            };
        };
        let mut sets = lock(shard);
        let state = load(&sets, place);
        let decision = decide_at(state, spend.policy().quota(), spend.cost(), now);
        if let Decision::Allowed { state } = decision {
            keep(&mut sets, place, state, now);
        }
        decision
    }

    fn place(&self, spend: &Spend<'_>) -> Place {
        let mut hasher = self.hasher.build_hasher();
        // no name of a policy has this byte, so that no two names are written alike
        hasher.write(spend.policy().name().as_bytes());
        hasher.write_u8(0xFF);
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

fn load(sets: &[Set], place: Place) -> State {
    let Some(set) = sets.get(place.set) else {
        return State::default();
    };
    let way = set.tags.iter().position(|tag| *tag == place.tag);
    let state = way.and_then(|way| set.states.get(way)).copied();
    State::from_nanoseconds(state.unwrap_or_default())
}

/// Writes a bucket in its own place, or else over the one that owes least: often one that owes nothing.
fn keep(sets: &mut [Set], place: Place, state: State, now: u64) {
    let Some(set) = sets.get_mut(place.set) else {
        return;
    };
    let own = set.tags.iter().position(|tag| *tag == place.tag);
    let way = own.or_else(|| {
        let owed = |state: &u64| state.saturating_sub(now);
        set.states
            .iter()
            .enumerate()
            .min_by_key(|(_, state)| owed(state))
            .map(|(way, _)| way)
    });
    let way = way.unwrap_or_default();
    if let (Some(tag), Some(kept)) = (set.tags.get_mut(way), set.states.get_mut(way)) {
        (*tag, *kept) = (place.tag, state.as_nanoseconds());
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
            .map(|place| found(place.shard).map_or_else(State::default, |(_, sets)| load(sets, *place)))
            .collect();
        for (place, state) in places
            .iter()
            .zip(passes(&states, spends, now).unwrap_or_default())
        {
            if let Some((_, sets)) = locked.iter_mut().find(|(number, _)| *number == place.shard) {
                keep(sets, *place, state, nanoseconds(now));
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
