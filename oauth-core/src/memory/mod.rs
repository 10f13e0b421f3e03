//! Stores in the memory of one process: for tests, for development, and as the reference of what each verb means.
//!
//! Every verb takes one lock for its whole step. Nothing survives the process, and nothing is dropped until the purge
//! verbs are called, but for attempts, of which there is a bound.

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

/// Locks, also after a panic elsewhere: every step leaves the tables whole before it could panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a record, unless there is one of this hash.
fn insert<T>(table: &mut HashMap<TokenHash, T>, key: TokenHash, record: T) -> Insertion {
    match table.entry(key) {
        Entry::Occupied(_) => Insertion::Exists,
        Entry::Vacant(vacant) => {
            vacant.insert(record);
            Insertion::Inserted
        }
    }
}

/// How many rows a purge dropped.
fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
