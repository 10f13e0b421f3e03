//! A store that fails as stores do: between a caller and any [`Respond`], at the verbs that a test chooses.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;

use super::verbs::{Reply, Respond, Verb, VerbStore};
use oauth_core::ports::StoreError;

/// What goes wrong with one verb.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a new fault is to be met by every test")]
pub enum Fault {
    /// The store never hears of the verb, as when it crashes before it commits: the caller is told that it is unavailable.
    LostCall,
    /// The verb happens, and its answer is lost, as when the store crashes after it has committed: the caller is told that it is
    /// unavailable.
    LostAnswer,
    /// A lookup is answered as the same lookup was the first time, as a replica does that lags behind. What writes is untouched.
    StaleRead,
    /// The caller's clock shows this instant.
    Clock(SystemTime),
}

/// A store with faults.
pub struct Faulty<R, F> {
    store: R,
    plan: F,
    verbs: AtomicUsize,
    read: Mutex<HashMap<String, Reply>>,
}

impl<R: Respond, F: Fn(usize, &Verb) -> Option<Fault> + Send + Sync> Faulty<R, F> {
    /// The store whose verb of that number, from 0, meets the fault that `plan` answers.
    #[must_use]
    pub fn new(store: R, plan: F) -> VerbStore<Self> {
        VerbStore(Self {
            store,
            plan,
            verbs: AtomicUsize::new(0),
            read: Mutex::default(),
        })
    }

    /// How many verbs were called.
    pub fn verbs(&self) -> usize {
        self.verbs.load(Ordering::Relaxed)
    }

    /// What the lookup was answered first, when `reply` is what it was answered now.
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
            Some(Fault::LostCall) => return Err(StoreError::unavailable("it crashed before it committed")),
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
            Some(Fault::LostAnswer) => Err(StoreError::unavailable("it crashed after it had committed")),
            Some(Fault::StaleRead) => Ok(first.unwrap_or(reply)),
            Some(Fault::LostCall | Fault::Clock(_)) | None => Ok(reply),
        }
    }
}
