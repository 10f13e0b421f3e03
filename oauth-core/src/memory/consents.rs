use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;

use super::lock;
use crate::ports::StoreError;
use crate::store::{ConsentRecord, ConsentStore};
use crate::vocabulary::{ClientId, Subject};

/// Store of consents in memory.
#[derive(Debug, Default)]
pub struct MemoryConsents {
    records: Mutex<BTreeMap<(Subject, ClientId), ConsentRecord>>,
}

impl MemoryConsents {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl ConsentStore for MemoryConsents {
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError> {
        let mut records = lock(&self.records);
        let key = (consent.subject.clone(), consent.client_id.clone());
        let merged = match records.remove(&key) {
            Some(earlier) => earlier.merge(consent),
            None => consent,
        };
        records.insert(key, merged);
        Ok(())
    }

    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError> {
        let key = (subject.clone(), client_id.clone());
        Ok(lock(&self.records).get(&key).cloned())
    }

    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError> {
        let records = lock(&self.records);
        let of_subject = records.values().filter(|consent| consent.subject == *subject);
        Ok(of_subject.cloned().collect())
    }

    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError> {
        let key = (subject.clone(), client_id.clone());
        Ok(lock(&self.records).remove(&key).is_some())
    }
}
