use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::SystemTime;

use crate::secret::TokenHash;

/// Cache of valid tokens in two halves, a young and an old half. When the young half is full, it
/// becomes the old half, and the previous old half is dropped. A lookup moves an entry to the young
/// half. So entries in use stay cached during a flood of other tokens. Operations take constant
/// time, and memory is bounded.
pub(super) struct Cache<T> {
    young: HashMap<TokenHash, Entry<T>>,
    old: HashMap<TokenHash, Entry<T>>,
    /// Maximum number of entries in each half; 0 disables the cache.
    half: usize,
}

struct Entry<T> {
    known: Arc<T>,
    since: SystemTime,
    until: SystemTime,
}

impl<T> Entry<T> {
    /// Returns `true` from `since` until before `until`. Earlier instants do not count, because a
    /// clock that is set back must not extend the lifetime of an entry.
    fn is_fresh(&self, now: SystemTime) -> bool {
        self.since <= now && now < self.until
    }
}

impl<T> Cache<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            half: capacity / 2,
        }
    }

    pub(super) fn get(&mut self, hash: &TokenHash, now: SystemTime) -> Option<Arc<T>> {
        if let Some(entry) = self.young.get(hash) {
            return entry.is_fresh(now).then(|| Arc::clone(&entry.known));
        }
        let entry = self.old.remove(hash).filter(|entry| entry.is_fresh(now))?;
        let active = Arc::clone(&entry.known);
        self.keep(*hash, entry);
        Some(active)
    }

    /// Caches `known` from `since` until before `until`.
    pub(super) fn insert(&mut self, hash: TokenHash, known: Arc<T>, since: SystemTime, until: SystemTime) {
        self.keep(hash, Entry { known, since, until });
    }

    fn keep(&mut self, hash: TokenHash, entry: Entry<T>) {
        if self.half == 0 {
            return;
        }
        if self.young.len() >= self.half {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(hash, entry);
    }

    pub(super) fn remove(&mut self, hash: &TokenHash) {
        self.young.remove(hash);
        self.old.remove(hash);
    }

    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn hash(number: usize) -> TokenHash {
        TokenHash::new(&number.to_string())
    }

    fn keep(cache: &mut Cache<usize>, number: usize) {
        cache.insert(hash(number), Arc::new(number), now(), now() + 10 * SECOND);
    }

    /// O14: an entry expires exactly at `until`, and is not used before `since`.
    #[test]
    fn cached_entries_expire() {
        let tick = Duration::from_nanos(1);
        let mut cache = Cache::new(10);
        let end = now() + 10 * SECOND;
        for (at, known) in [
            (now(), true),
            (end - tick, true),
            (end, false),
            (now() - tick, false),
        ] {
            keep(&mut cache, 1);
            assert_eq!(cache.get(&hash(1), at).is_some(), known, "{at:?}");
            assert!(cache.get(&hash(2), at).is_none());
        }
    }

    /// O14: a flood of tokens evicts only entries that are not used.
    #[test]
    fn flood_evicts_only_unused_entries() {
        let mut cache = Cache::new(100);
        keep(&mut cache, 0);
        for number in 1..10_000 {
            keep(&mut cache, number);
            assert!(cache.young.len() + cache.old.len() <= 100);
            if number % 20 == 0 {
                assert!(cache.get(&hash(0), now()).is_some(), "{number}");
            }
        }
        assert!(cache.get(&hash(1), now()).is_none());
        let mut none = Cache::new(0);
        keep(&mut none, 1);
        assert!(none.get(&hash(1), now()).is_none());
    }

    /// O13: an entry is removed from either half.
    #[test]
    fn removed_entries_are_gone() {
        let mut cache = Cache::new(4);
        (0..3).for_each(|number| keep(&mut cache, number));
        for number in 0..3 {
            assert!(cache.get(&hash(number), now()).is_some(), "{number}");
            cache.remove(&hash(number));
            assert!(cache.get(&hash(number), now()).is_none());
        }
        keep(&mut cache, 1);
        cache.clear();
        assert!(cache.get(&hash(1), now()).is_none());
    }
}
