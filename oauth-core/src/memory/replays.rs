use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, lock};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::store::{ReplayStore, SpendOutcome};

/// Replay store in memory.
///
/// # Security
///
/// The store is empty after a restart. Assertions and proofs that the server accepted before the
/// restart can be replayed until they expire. Other processes do not see the keys either.
#[derive(Debug, Default)]
pub struct MemoryReplays {
    ends: Mutex<HashMap<TokenHash, SystemTime>>,
}

impl MemoryReplays {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl ReplayStore for MemoryReplays {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        let mut ends = lock(&self.ends);
        if ends.get(&key).is_some_and(|end| now < *end) {
            return Ok(SpendOutcome::Seen);
        }
        ends.insert(key, expires_at);
        Ok(SpendOutcome::Fresh)
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        let mut ends = lock(&self.ends);
        let before = ends.len();
        ends.retain(|_, end| now < *end);
        Ok(count(before - ends.len()))
    }
}
