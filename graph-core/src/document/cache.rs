//! Cache of compiled documents, bounded in bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::Document;
use crate::response::GraphResponse;

/// Text and operation name of a document.
#[derive(Debug)]
pub(crate) struct Source<'s> {
    pub(crate) text: &'s str,
    pub(crate) operation: Option<&'s str>,
}

/// Bytes per entry in addition to the document: the map entries.
const OVERHEAD: usize = 256;

/// Compiled document, or the response with its errors.
pub(crate) type Read = Result<Arc<Document>, Arc<GraphResponse>>;

/// Cache of documents by key, with CLOCK eviction.
#[derive(Debug)]
pub(crate) struct Cache {
    /// In bytes.
    capacity: usize,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Arc<[u8]>, Arc<Entry>>,
    /// Keys and sizes in eviction order.
    clock: VecDeque<(Arc<[u8]>, usize)>,
    /// Size of the completed entries in bytes.
    size: usize,
}

/// Document that is read once (single-flight).
#[derive(Debug, Default)]
struct Entry {
    read: OnceLock<Read>,
    /// Requested since the last pass of the eviction.
    used: AtomicBool,
}

impl Cache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            state: RwLock::default(),
        }
    }

    /// Returns the document of `key`, if it is cached.
    pub(crate) fn peek(&self, key: &[u8]) -> Option<Read> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let known = state.entries.get(key)?;
        // written only once: each store would take the cache line from other processors
        if !known.used.load(Ordering::Relaxed) {
            known.used.store(true, Ordering::Relaxed);
        }
        known.read.get().cloned()
    }

    /// Returns the document of `key`, calling `read` if it is not cached.
    pub(crate) fn get(&self, key: &[u8], read: impl FnOnce() -> (Read, usize)) -> Read {
        if let Some(read) = self.peek(key) {
            return read;
        }
        let entry = self.entry(key);
        let _unread = Unread {
            cache: self,
            key,
            entry: &entry,
        };
        let mut size = None;
        let outcome = entry.read.get_or_init(|| {
            let (outcome, bytes) = read();
            size = Some(bytes);
            outcome
        });
        let outcome = outcome.clone();
        if let Some(size) = size {
            self.account(key, &entry, size);
        }
        outcome
    }

    fn entry(&self, key: &[u8]) -> Arc<Entry> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = state.entries.get(key) {
            return Arc::clone(known);
        }
        let (key, entry): (Arc<[u8]>, _) = (key.into(), Arc::new(Entry::default()));
        state.entries.insert(key, Arc::clone(&entry));
        entry
    }

    /// Accounts for a completed entry: evicts others, or drops the entry if it exceeds a quarter of
    /// the capacity.
    fn account(&self, key: &[u8], entry: &Arc<Entry>, size: usize) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let Some((key, known)) = state.entries.get_key_value(key) else {
            return;
        };
        if !Arc::ptr_eq(known, entry) {
            return;
        }
        let key = Arc::clone(key);
        let size = OVERHEAD + size + 2 * key.len();
        if size > self.capacity / 4 {
            state.entries.remove(&key);
            return;
        }
        state.size += size;
        state.clock.push_back((key, size));
        while state.size > self.capacity {
            let Some((oldest, size)) = state.clock.pop_front() else {
                return;
            };
            let used = |entry: &Arc<Entry>| entry.used.swap(false, Ordering::Relaxed);
            if state.entries.get(&oldest).is_some_and(used) {
                state.clock.push_back((oldest, size));
            } else {
                state.entries.remove(&oldest);
                state.size -= size;
            }
        }
    }
}

/// Removes an entry if its `read` panics; nothing else would evict it.
struct Unread<'c> {
    cache: &'c Cache,
    key: &'c [u8],
    entry: &'c Entry,
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        if self.entry.read.get().is_none() {
            let mut state = self.cache.state.write().unwrap_or_else(PoisonError::into_inner);
            state.entries.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::error::ErrorCode;

    fn refused() -> Read {
        Err(Arc::new(GraphResponse::request_error(
            ErrorCode::BadRequest,
            "no",
        )))
    }

    fn kept(cache: &Cache) -> (usize, usize) {
        let state = cache.state.read().unwrap();
        (state.entries.len(), state.size)
    }

    /// G19: a flood of documents stays within the memory bound and keeps the documents in use.
    #[test]
    fn flood_of_texts_is_bounded_and_keeps_texts_in_use() {
        let cache = Cache::new(20_000);
        let reads = AtomicUsize::new(0);
        for at in 0..10_000 {
            let _used = cache.get(b"used", || {
                reads.fetch_add(1, Ordering::SeqCst);
                (refused(), 100)
            });
            let _flood = cache.get(format!("flood {at}").as_bytes(), || (refused(), 500));
            let (entries, size) = kept(&cache);
            assert!(size <= 20_000 && entries <= 60, "{entries} of {size}");
        }
        assert_eq!(reads.load(Ordering::SeqCst), 1);
    }

    /// G19: a document above a quarter of the memory is not cached.
    #[test]
    fn a_giant_is_not_kept() {
        let cache = Cache::new(20_000);
        let _giant = cache.get(b"giant", || (refused(), 6_000));
        assert_eq!(kept(&cache), (0, 0));
    }

    /// G19: a panic while reading leaves no entry; the next caller reads again.
    #[test]
    fn a_panic_leaves_nothing_behind() {
        let cache = Cache::new(20_000);
        let reading = std::panic::AssertUnwindSafe(|| cache.get(b"text", || panic!("unreadable")));
        assert!(std::panic::catch_unwind(reading).is_err());
        assert_eq!(kept(&cache), (0, 0));
        assert!(cache.get(b"text", || (refused(), 100)).is_err());
        assert_eq!(kept(&cache).0, 1);
    }

    /// G19: concurrent requests for one document read it once.
    #[test]
    fn concurrent_reads_of_a_text_read_it_once() {
        let (cache, reads, start) = (Cache::new(20_000), AtomicUsize::new(0), Barrier::new(8));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let read = cache.get(b"text", || {
                        std::thread::yield_now();
                        reads.fetch_add(1, Ordering::SeqCst);
                        (refused(), 100)
                    });
                    assert!(read.is_err());
                });
            }
        });
        assert_eq!(reads.load(Ordering::SeqCst), 1);
    }
}
