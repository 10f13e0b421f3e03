//! In-memory positions of resources.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;

use crate::{
    ports::StoreError,
    receiver::{Advance, LatestSeen, Position, ResourceKey},
};

/// [`LatestSeen`] in memory, for one process. It keeps one row per resource and removes none.
#[derive(Debug, Default)]
pub struct MemoryLatestSeen(Mutex<HashMap<ResourceKey, Position>>);

#[async_trait]
impl LatestSeen for MemoryLatestSeen {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let advance = Advance::compare(latest.get(resource).copied(), position);
        if advance == Advance::Newer {
            latest.insert(resource.clone(), position);
        }
        Ok(advance)
    }
}
