//! In-memory store of automatic persisted queries.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;

use crate::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use crate::ports::StoreError;

/// Bytes per entry in addition to the text: the map entry and the queue entry.
const OVERHEAD: usize = 256;

/// In-memory [`PersistedStore`] with a byte limit.
///
/// If the store is full, it evicts expired documents and documents that were not requested
/// recently. After a restart it is empty, and clients register their documents again.
#[derive(Debug)]
pub struct MemoryPersisted {
    /// In bytes.
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<DocumentHash, Entry>,
    /// Hashes of the entries in eviction order (CLOCK algorithm).
    clock: VecDeque<DocumentHash>,
    /// In bytes.
    size: usize,
}

#[derive(Debug)]
struct Entry {
    text: Arc<str>,
    expires_at: SystemTime,
    /// `true` if a client requested the document since the last pass of the eviction.
    used: bool,
}

impl Entry {
    fn size(text: &str) -> usize {
        text.len() + OVERHEAD
    }
}

impl MemoryPersisted {
    /// Creates an empty store of at most `capacity` bytes.
    ///
    /// The size of a document is its text plus 256 bytes. A document larger than a quarter of
    /// `capacity` is not stored. [`MemoryPersisted::default`] has a capacity of 8 MiB.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            state: Mutex::default(),
        }
    }

    /// Returns the number of documents, including expired ones that are not evicted yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state().entries.len()
    }

    /// Returns `true` if the store has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Capacity: 8 MiB.
impl Default for MemoryPersisted {
    fn default() -> Self {
        Self::new(8 << 20)
    }
}

#[async_trait]
impl PersistedStore for MemoryPersisted {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let mut state = self.state();
        let Some(entry) = state.entries.get_mut(hash).filter(|entry| now < entry.expires_at) else {
            return Ok(None);
        };
        entry.used = true;
        Ok(Some(Arc::clone(&entry.text)))
    }

    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        let mut state = self.state();
        if let Some(entry) = state.entries.get_mut(&document.hash) {
            let known = now < entry.expires_at;
            entry.expires_at = entry.expires_at.max(document.expires_at);
            return Ok(if known {
                KeepOutcome::Known
            } else {
                KeepOutcome::New
            });
        }
        let size = Entry::size(&document.text);
        if size > self.capacity / 4 {
            return Ok(KeepOutcome::TooLarge);
        }
        state.make_room(self.capacity - size, now);
        state.size += size;
        state.clock.push_back(document.hash);
        let entry = Entry {
            text: Arc::clone(&document.text),
            expires_at: document.expires_at,
            used: false,
        };
        state.entries.insert(document.hash, entry);
        Ok(KeepOutcome::New)
    }
}

impl State {
    /// Evicts expired and unused documents until the rest takes at most `room` bytes.
    fn make_room(&mut self, room: usize, now: SystemTime) {
        while self.size > room {
            let Some(oldest) = self.clock.pop_front() else {
                return;
            };
            let Some(entry) = self.entries.get_mut(&oldest) else {
                continue;
            };
            if entry.used && now < entry.expires_at {
                entry.used = false;
                self.clock.push_back(oldest);
            } else if let Some(gone) = self.entries.remove(&oldest) {
                self.size -= Entry::size(&gone.text);
            }
        }
    }
}
