//! Histories of concurrent callers of one store, and a linearizability check.
//!
//! A *verb* is one call of a store method, as in [`verbs`](super::verbs). A [`Recorder`] between
//! the callers and the store records each verb, its response, and the order of all starts and
//! responses. [`History::check`] then checks two things:
//!
//! - each rule of the store traits; a broken rule is a [`Violation`];
//! - the whole history: some sequential order of the verbs must explain every response. In this
//!   order each verb is one step, and a verb whose response arrived before another verb began comes
//!   first.
//!
//! A failed verb may take effect at any later moment, or never.

mod actor;
mod check;
mod order;
mod rules;
mod table;
mod world;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

pub use actor::{Workload, record};
pub use check::Violation;
pub use table::{CodeOutcome, CodeState, CodeTrigger, RefreshState, RefreshTrigger};

use super::verbs::{Reply, Respond, SessionVerb, TokenVerb, Verb};
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;

/// One verb of a history.
#[derive(Clone, Debug)]
struct Entry {
    verb: Verb,
    /// Its position among all starts and responses.
    began: usize,
    /// The position of its response, and the response. `None` while the verb runs, and after a
    /// failure.
    answered: Option<(usize, Reply)>,
}

/// The verbs and responses of one store, in the order of their starts.
#[derive(Clone, Default)]
pub struct History {
    entries: Vec<Entry>,
    ticks: usize,
    /// Rotated refresh tokens that were retried within the retry window and got the first response
    /// again.
    repeated: HashSet<TokenHash>,
}

/// A wrapper of a store that records its verbs and responses.
///
/// Purges are not recorded: the number of deleted rows depends on the records of other callers.
pub struct Recorder<R> {
    store: R,
    history: Mutex<History>,
}

impl<R> Recorder<R> {
    /// Wraps `store`, with an empty history.
    #[must_use]
    pub fn new(store: R) -> Self {
        Self {
            store,
            history: Mutex::default(),
        }
    }

    /// Returns a copy of the history so far.
    pub fn history(&self) -> History {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, verb: &Verb) -> usize {
        let mut history = self.lock();
        let (place, began) = (history.entries.len(), history.tick());
        history.entries.push(Entry {
            verb: verb.clone(),
            began,
            answered: None,
        });
        place
    }

    fn end(&self, place: usize, reply: &Reply) {
        let mut history = self.lock();
        let answered = history.tick();
        if let Some(entry) = history.entries.get_mut(place) {
            entry.answered = Some((answered, reply.clone()));
        }
    }
}

impl History {
    fn tick(&mut self) -> usize {
        self.ticks += 1;
        self.ticks
    }
}

#[async_trait]
impl<R: Respond> Respond for Recorder<R> {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        if matches!(
            verb,
            Verb::Token(TokenVerb::Purge(_)) | Verb::Session(SessionVerb::Purge(_))
        ) {
            return self.store.respond(verb).await;
        }
        let place = self.begin(&verb);
        let reply = self.store.respond(verb).await?;
        self.end(place, &reply);
        Ok(reply)
    }
}

impl<R: fmt::Debug> fmt::Debug for Recorder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// One line per verb.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, entry) in self.entries.iter().enumerate() {
            let Entry {
                verb,
                began,
                answered,
            } = entry;
            match answered {
                Some((answered, reply)) => writeln!(f, "#{place} {began}–{answered} {verb:?} -> {reply:?}")?,
                None => writeln!(f, "#{place} {began}– {verb:?} -> no answer")?,
            }
        }
        Ok(())
    }
}
