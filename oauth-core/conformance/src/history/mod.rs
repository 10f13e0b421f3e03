//! What several callers did to one store at once, and whether a store may answer so.
//!
//! A [`Recorder`] between the callers and the store writes down each verb, when it began, and what was answered when. The
//! [`History`] is then held against the promises of the ports, each as a rule that names its [`Violation`], and as a whole: there must be
//! an order of its verbs, true to the clock where one was answered before another began, in which each is one step that answers
//! what the store answered. A verb that failed may have happened at any later moment, or never.

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

pub use actor::{Cast, play};
pub use check::Violation;
pub use table::{CodeAnswer, CodeState, CodeTrigger, LinkState, LinkTrigger};

use super::verbs::{Reply, Respond, SessionVerb, TokenVerb, Verb};
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;

/// One verb of a history.
#[derive(Clone, Debug)]
struct Entry {
    verb: Verb,
    /// Its place among all beginnings and answers.
    began: usize,
    /// The same of its answer, and the answer; `None` while it runs, and for ever when it failed.
    answered: Option<(usize, Reply)>,
}

/// What was asked of a store and answered, in the order in which it began.
#[derive(Clone, Default)]
pub struct History {
    entries: Vec<Entry>,
    ticks: usize,
    /// Tombstones that were presented within a retry window, and were answered as before.
    repeated: HashSet<TokenHash>,
}

/// A store that writes down what it is asked and what it answers. Purges go by unrecorded: how much they drop depends on what
/// others have stored.
pub struct Recorder<R> {
    store: R,
    history: Mutex<History>,
}

impl<R> Recorder<R> {
    /// A recorder with nothing on it.
    #[must_use]
    pub fn new(store: R) -> Self {
        Self {
            store,
            history: Mutex::default(),
        }
    }

    /// What was recorded so far.
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

/// One line a verb.
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
