use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, lock};
use crate::secret::TokenHash;
use crate::store::{Insertion, InteractionRecord, InteractionStore, TakeOutcome};
use crate::store_error::StoreError;

/// Interactions in memory.
#[derive(Debug, Default)]
pub struct MemoryInteractions {
    interactions: Mutex<HashMap<TokenHash, InteractionRecord>>,
}

impl MemoryInteractions {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl InteractionStore for MemoryInteractions {
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError> {
        match lock(&self.interactions).entry(interaction.id) {
            Entry::Occupied(_) => Ok(Insertion::Exists),
            Entry::Vacant(vacant) => {
                vacant.insert(interaction);
                Ok(Insertion::Inserted)
            }
        }
    }

    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError> {
        Ok(lock(&self.interactions).get(id).cloned())
    }

    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError> {
        let mut interactions = lock(&self.interactions);
        let Entry::Occupied(entry) = interactions.entry(*id) else {
            return Ok(TakeOutcome::NotFound);
        };
        Ok(match entry.get() {
            record if !record.browser.matches(browser) => TakeOutcome::NotFound,
            record if now >= record.expires_at => TakeOutcome::Expired,
            _ => TakeOutcome::Taken(Box::new(entry.remove())),
        })
    }

    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError> {
        let mut interactions = lock(&self.interactions);
        let before = interactions.len();
        interactions.retain(|_, record| now < record.expires_at);
        Ok(count(before - interactions.len()))
    }
}
