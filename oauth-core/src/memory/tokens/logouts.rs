use std::collections::HashMap;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{MemoryTokens, Tables};
use crate::memory::lock;
use crate::ports::StoreError;
use crate::store::{Grant, LogoutRecord, LogoutStore};

#[async_trait]
impl LogoutStore for MemoryTokens {
    async fn lease_logouts(&self, limit: usize, now: SystemTime) -> Result<Vec<LogoutRecord>, StoreError> {
        let logouts = &mut lock(&self.tables).logouts;
        let mut queued: Vec<_> = logouts.values().cloned().collect();
        queued.sort_by_key(|logout| logout.due_at);
        let due = queued.into_iter().filter_map(|logout| logout.lease(now));
        let leased: Vec<_> = due.take(limit).collect();
        for logout in &leased {
            logouts.insert((logout.session, logout.client_id.clone()), logout.clone());
        }
        Ok(leased)
    }

    async fn settle_logout(
        &self,
        logout: &LogoutRecord,
        retry_at: Option<SystemTime>,
    ) -> Result<bool, StoreError> {
        let logouts = &mut lock(&self.tables).logouts;
        let key = (logout.session, logout.client_id.clone());
        let stored = logouts.get_mut(&key);
        let Some(stored) = stored.filter(|stored| {
            stored.fencing_token == logout.fencing_token && stored.expires_at == logout.expires_at
        }) else {
            return Ok(false);
        };
        match retry_at {
            Some(retry_at) => stored.due_at = retry_at,
            None => drop(logouts.remove(&key)),
        }
        Ok(true)
    }
}

impl Tables {
    /// Queues the logouts of these grants: one per client and session.
    pub(super) fn queue_logouts(&mut self, grants: impl IntoIterator<Item = Grant>, now: SystemTime) {
        let new = grants.into_iter().filter_map(|grant| {
            let logout = LogoutRecord::new(grant.client_id.clone(), grant.session?, grant.subject, now);
            Some(((logout.session, grant.client_id), logout))
        });
        for (key, new) in new.collect::<HashMap<_, _>>() {
            let logout = match self.logouts.remove(&key) {
                Some(queued) => queued.queue_again(now),
                None => new,
            };
            self.logouts.insert(key, logout);
        }
    }
}
