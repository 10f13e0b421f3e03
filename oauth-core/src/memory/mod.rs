//! Stores in the memory of one process: for tests and development, and as reference
//! implementations.
//!
//! Each method holds one lock during its whole step. All records are lost when the process ends.
//! The stores grow until the host calls their purge methods; only [`MemoryAttempts`] has a
//! capacity.

mod attempts;
mod clients;
mod consents;
mod interactions;
mod locks;
mod replays;
mod tokens;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::secret::TokenHash;
use crate::store::Insertion;

pub use attempts::MemoryAttempts;
pub use clients::MemoryClients;
pub use consents::MemoryConsents;
pub use interactions::MemoryInteractions;
pub use locks::MemorySubjectLocks;
pub use replays::MemoryReplays;
pub use tokens::MemoryTokens;

/// Locks `mutex`, even if a thread panicked while it held the lock: the tables are consistent
/// wherever a step can panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inserts a record, unless a record with this key exists.
fn insert<T>(table: &mut HashMap<TokenHash, T>, key: TokenHash, record: T) -> Insertion {
    match table.entry(key) {
        Entry::Occupied(_) => Insertion::Exists,
        Entry::Vacant(vacant) => {
            vacant.insert(record);
            Insertion::Inserted
        }
    }
}

/// Converts a number of rows to `u64`.
fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
