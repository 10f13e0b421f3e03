//! In-memory claims.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use crate::{
    ports::StoreError,
    receiver::{BeginOutcome, BodyDigest, Claims, EventKey, Incoming},
};

/// [`Claims`] in memory, for one process. Expired claims are removed when new events arrive.
#[derive(Debug, Default)]
pub struct MemoryClaims(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    claims: HashMap<EventKey, Row>,
    expiries: BTreeSet<(SystemTime, EventKey)>,
}

#[derive(Debug)]
struct Row {
    digest: BodyDigest,
    /// End of the lease; `None` once the claim is complete.
    until: Option<SystemTime>,
}

#[async_trait]
impl Claims for MemoryClaims {
    async fn begin(
        &self,
        event: &Incoming,
        now: SystemTime,
        lease: Duration,
    ) -> Result<BeginOutcome, StoreError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(state.begin(event, now, lease))
    }

    async fn complete(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = state.claims.get_mut(key).filter(|row| row.digest == *digest) {
            row.until = None;
        }
        Ok(())
    }
}

impl State {
    fn begin(&mut self, event: &Incoming, now: SystemTime, lease: Duration) -> BeginOutcome {
        self.forget_ended(now);
        // on overflow the claim itself bounds the lease, or no other delivery could take it over
        let until = now.checked_add(lease).unwrap_or(event.expires_at);
        match self.claims.get_mut(&event.key) {
            Some(row) if row.digest != event.digest => BeginOutcome::Conflict,
            Some(Row { until: None, .. }) => BeginOutcome::Duplicate,
            Some(Row {
                until: Some(until), ..
            }) if *until > now => BeginOutcome::Pending { until: *until },
            Some(row) => {
                row.until = Some(until);
                BeginOutcome::Claimed
            }
            None => {
                let (digest, until) = (event.digest, Some(until));
                self.expiries.insert((event.expires_at, event.key.clone()));
                self.claims.insert(event.key.clone(), Row { digest, until });
                BeginOutcome::Claimed
            }
        }
    }

    fn forget_ended(&mut self, now: SystemTime) {
        while self
            .expiries
            .first()
            .is_some_and(|(expires_at, _)| *expires_at <= now)
        {
            if let Some((_, key)) = self.expiries.pop_first() {
                self.claims.remove(&key);
            }
        }
    }
}
