use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, insert, lock};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::store::{Insertion, InteractionRecord, InteractionStore, PushedRequestRecord, TakeOutcome};

/// Store of interactions and pushed requests in memory.
#[derive(Debug, Default)]
pub struct MemoryInteractions {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    interactions: HashMap<TokenHash, InteractionRecord>,
    pushed: HashMap<TokenHash, PushedRequestRecord>,
}

impl MemoryInteractions {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl InteractionStore for MemoryInteractions {
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError> {
        let tables = &mut *lock(&self.tables);
        Ok(insert(&mut tables.interactions, interaction.id, interaction))
    }

    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError> {
        Ok(lock(&self.tables).interactions.get(id).cloned())
    }

    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError> {
        let tables = &mut *lock(&self.tables);
        let found = tables.interactions.get(id);
        let pushed = match TakeOutcome::decide(found, browser, now) {
            Ok(pushed) => pushed,
            Err(refused) => return Ok(refused),
        };
        if let Some(hash) = pushed {
            match tables.pushed.get_mut(&hash) {
                Some(pushed) if !pushed.completed => pushed.completed = true,
                _ => return Ok(TakeOutcome::RequestSpent),
            }
        }
        let taken = tables.interactions.remove(id);
        Ok(taken.map_or(TakeOutcome::NotFound, |record| {
            TakeOutcome::Taken(Box::new(record))
        }))
    }

    async fn insert_pushed(&self, pushed: PushedRequestRecord) -> Result<Insertion, StoreError> {
        let tables = &mut *lock(&self.tables);
        Ok(insert(&mut tables.pushed, pushed.hash, pushed))
    }

    async fn pushed(&self, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, StoreError> {
        Ok(lock(&self.tables).pushed.get(hash).cloned())
    }

    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError> {
        let Tables { interactions, pushed } = &mut *lock(&self.tables);
        let before = interactions.len() + pushed.len();
        interactions.retain(|_, record| now < record.expires_at);
        pushed.retain(|_, record| now < record.retain_until);
        Ok(count(before - interactions.len() - pushed.len()))
    }
}
