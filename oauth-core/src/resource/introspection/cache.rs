use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::answer::Active;
use crate::secret::TokenHash;
use crate::time::later;

/// What was said of active tokens, in two halves: when the young half is full it becomes the old one, which is dropped as a whole.
/// What is used now and then stays, in constant time and bounded memory, whoever floods it.
pub(super) struct Cache {
    young: HashMap<TokenHash, Entry>,
    old: HashMap<TokenHash, Entry>,
    half: usize,
}

struct Entry {
    active: Arc<Active>,
    asked_at: SystemTime,
    until: SystemTime,
}

impl Entry {
    /// A clock that was set back must not prolong it.
    fn is_fresh(&self, now: SystemTime) -> bool {
        self.asked_at <= now && now < self.until
    }
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            half: capacity / 2,
        }
    }

    pub(super) fn get(&mut self, hash: &TokenHash, now: SystemTime) -> Option<Arc<Active>> {
        if let Some(entry) = self.young.get(hash) {
            return entry.is_fresh(now).then(|| Arc::clone(&entry.active));
        }
        let entry = self.old.remove(hash).filter(|entry| entry.is_fresh(now))?;
        let active = Arc::clone(&entry.active);
        self.keep(*hash, entry);
        Some(active)
    }

    /// Remembers what was said at `asked_at` for `lifetime`, and not beyond the end of the token.
    pub(super) fn insert(
        &mut self,
        hash: TokenHash,
        active: Arc<Active>,
        asked_at: SystemTime,
        lifetime: Duration,
    ) {
        let until = later(asked_at, lifetime).min(active.expires_at());
        let entry = Entry {
            active,
            asked_at,
            until,
        };
        self.keep(hash, entry);
    }

    fn keep(&mut self, hash: TokenHash, entry: Entry) {
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
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn active(life: Duration) -> Arc<Active> {
        Arc::new(Active::until(now() + life))
    }

    fn hash(number: usize) -> TokenHash {
        TokenHash::of(&number.to_string())
    }

    fn keep(cache: &mut Cache, number: usize) {
        cache.insert(hash(number), active(600 * SECOND), now(), 10 * SECOND);
    }

    /// O14: to the instant; the end of the token comes first, and a clock that was set back prolongs nothing.
    #[test]
    fn an_answer_is_remembered_for_seconds() {
        let tick = Duration::from_nanos(1);
        for (life, lasts) in [(600, 10), (5, 5)] {
            let mut cache = Cache::new(10);
            cache.insert(hash(1), active(life * SECOND), now(), 10 * SECOND);
            let end = now() + lasts * SECOND;
            assert!(cache.get(&hash(1), now()).is_some());
            assert!(cache.get(&hash(1), end - tick).is_some());
            assert!(cache.get(&hash(1), end).is_none());
            assert!(cache.get(&hash(1), now() - tick).is_none());
            assert!(cache.get(&hash(2), now()).is_none());
        }
    }

    /// O14: whoever floods it drops no more than what nobody asks for.
    #[test]
    fn a_flood_is_bounded_and_leaves_what_is_used() {
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

    /// O13: in whichever half it is.
    #[test]
    fn what_is_removed_is_gone() {
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
