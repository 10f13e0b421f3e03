//! Fault injection between callers and a store: lost calls, lost responses, stale lookups and clock
//! jumps.
//!
//! A *verb* is one call of a store method, as in [`verbs`](super::verbs).

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;

use super::verbs::{Reply, Respond, Verb, VerbStore};
use oauth_core::ports::StoreError;

/// A fault to inject into one verb.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a new fault is to be met by every test")]
pub enum Fault {
    /// The verb never reaches the store, as in a crash before the commit. The caller gets
    /// [`StoreError::unavailable`].
    LostCall,
    /// The store performs the verb and its response is lost, as in a crash after the commit. The
    /// caller gets [`StoreError::unavailable`].
    LostAnswer,
    /// A repeated lookup returns its first result again, as a lagging replica does. Verbs that
    /// write are not affected.
    StaleRead,
    /// The store gets this instant instead of the caller's `now`. Verbs without `now` are not
    /// affected.
    Clock(SystemTime),
}

/// A store with injected faults.
pub struct Faulty<R, F> {
    store: R,
    plan: F,
    verbs: AtomicUsize,
    read: Mutex<HashMap<String, Reply>>,
}

impl<R: Respond, F: Fn(usize, &Verb) -> Option<Fault> + Send + Sync> Faulty<R, F> {
    /// Wraps `store`. `plan` gets the number of each verb (from 0) and the verb, and returns the
    /// fault to inject.
    #[must_use]
    pub fn new(store: R, plan: F) -> VerbStore<Self> {
        VerbStore(Self {
            store,
            plan,
            verbs: AtomicUsize::new(0),
            read: Mutex::default(),
        })
    }

    /// Returns the number of verbs that were called, including lost ones.
    pub fn verbs(&self) -> usize {
        self.verbs.load(Ordering::Relaxed)
    }

    /// Returns the first result of this lookup; `reply` if there was none before.
    fn first_answer(&self, lookup: String, reply: &Reply) -> Reply {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(lookup).or_insert_with(|| reply.clone()).clone()
    }
}

impl<R: fmt::Debug, F> fmt::Debug for Faulty<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty")
            .field("store", &self.store)
            .field("verbs", &self.verbs)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<R: Respond, F: Fn(usize, &Verb) -> Option<Fault> + Send + Sync> Respond for Faulty<R, F> {
    async fn respond(&self, mut verb: Verb) -> Result<Reply, StoreError> {
        let fault = (self.plan)(self.verbs.fetch_add(1, Ordering::Relaxed), &verb);
        match fault {
            Some(Fault::LostCall) => {
                return Err(StoreError::unavailable("injected fault: crash before the commit"));
            }
            Some(Fault::Clock(now)) => {
                if let Some(instant) = verb.now_mut() {
                    *instant = now;
                }
            }
            Some(Fault::LostAnswer | Fault::StaleRead) | None => {}
        }
        let lookup = verb.is_lookup().then(|| format!("{verb:?}"));
        let reply = self.store.respond(verb).await?;
        let first = lookup.map(|lookup| self.first_answer(lookup, &reply));
        match fault {
            Some(Fault::LostAnswer) => Err(StoreError::unavailable("injected fault: crash after the commit")),
            Some(Fault::StaleRead) => Ok(first.unwrap_or(reply)),
            Some(Fault::LostCall | Fault::Clock(_)) | None => Ok(reply),
        }
    }
}
