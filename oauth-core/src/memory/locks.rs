use std::collections::BTreeSet;
use std::sync::Mutex;

use async_trait::async_trait;

use super::lock;
use crate::ports::StoreError;
use crate::store::{SubjectLocks, SubjectStatus};
use crate::vocabulary::Subject;

/// Locked subjects in memory.
#[derive(Debug, Default)]
pub struct MemorySubjectLocks {
    locked: Mutex<BTreeSet<Subject>>,
}

impl MemorySubjectLocks {
    /// Creates a set without locked subjects.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl SubjectStatus for MemorySubjectLocks {
    async fn is_locked(&self, subject: &Subject) -> Result<bool, StoreError> {
        Ok(lock(&self.locked).contains(subject))
    }
}

#[async_trait]
impl SubjectLocks for MemorySubjectLocks {
    async fn lock_subject(&self, subject: &Subject) -> Result<(), StoreError> {
        lock(&self.locked).insert(subject.clone());
        Ok(())
    }

    async fn unlock_subject(&self, subject: &Subject) -> Result<(), StoreError> {
        lock(&self.locked).remove(subject);
        Ok(())
    }
}
