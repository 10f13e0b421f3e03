//! Stores in the memory of one process: for tests and development, and as reference
//! implementations.
//!
//! Each method holds one lock for its whole step. The records are lost when the process ends. They
//! stay until the host calls a purge method; only the store of attempts has a capacity.

mod attempts;
mod clients;
mod interactions;
mod replays;
mod tokens;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::secret::TokenHash;
use crate::store::Insertion;

pub use attempts::MemoryAttempts;
pub use clients::MemoryClients;
pub use interactions::MemoryInteractions;
pub use replays::MemoryReplays;
pub use tokens::MemoryTokens;

/// Locks, even after a panic elsewhere: each step leaves the tables consistent before it could
/// panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inserts a record, unless one with this key exists.
fn insert<T>(table: &mut HashMap<TokenHash, T>, key: TokenHash, record: T) -> Insertion {
    match table.entry(key) {
        Entry::Occupied(_) => Insertion::Exists,
        Entry::Vacant(vacant) => {
            vacant.insert(record);
            Insertion::Inserted
        }
    }
}

/// Number of rows that a purge deleted.
fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
