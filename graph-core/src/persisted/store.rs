//! Where the texts of automatic persisted queries are kept.

use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use super::DocumentHash;
use crate::ports::StoreError;

/// A text that a client registered under its hash.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a store writes all of it")]
pub struct PersistedDocument {
    /// The SHA-256 of the text; the engine has compared them.
    pub hash: DocumentHash,
    /// The document, byte for byte as the client sent it.
    pub text: Arc<str>,
    /// From when on the text may not be served.
    pub expires_at: SystemTime,
}

impl PersistedDocument {
    /// `text` under its hash, served until `expires_at`.
    #[must_use]
    pub fn new(text: &str, expires_at: SystemTime) -> Self {
        Self {
            hash: DocumentHash::of(text),
            text: text.into(),
            expires_at,
        }
    }
}

/// Outcome of [`PersistedStore::keep`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum KeepOutcome {
    /// It was not there, and is now.
    New,
    /// It was there already, and stays until the later of the two ends.
    Known,
    /// It takes more room than the store has for one text. Nothing changed.
    TooLarge,
}

/// The texts of documents by their hash.
///
/// # What an implementation must guarantee
///
/// - A text comes back byte for byte, or not at all, whatever is in it. The engine hashes what it gets; a text that does not
///   fit its hash is an incident, and is not run.
/// - It is bounded, in bytes or by the end of each text. Forgetting is allowed at any time: a client that misses sends its
///   text again. Serving a text at or after its `expires_at` is not.
/// - Each verb is one atomic step. Of any number of callers that keep one hash while it is not there exactly one gets
///   [`KeepOutcome::New`]; none of them shortens how long it is there.
/// - Times have nanoseconds: an end is stored without rounding.
///
/// The kit `persisted_store!` of `graph-core-conformance` checks this.
#[async_trait]
pub trait PersistedStore: Send + Sync {
    /// The text of `hash`, if it is there and `now` is before its end.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; the client is told that the hash is unknown then.
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError>;

    /// Keeps `document`. One that is there and has ended by `now` is as good as none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; the operation runs all the same. Calling again is safe.
    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError>;
}

// written out: an `async fn` would box the future of the store once more
impl<S: PersistedStore + ?Sized> PersistedStore for Arc<S> {
    fn text<'life0, 'life1, 'async_trait>(
        &'life0 self,
        hash: &'life1 DocumentHash,
        now: SystemTime,
    ) -> Pin<Box<dyn Future<Output = Result<Option<Arc<str>>, StoreError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        Self: 'async_trait,
    {
        (**self).text(hash, now)
    }

    fn keep<'life0, 'life1, 'async_trait>(
        &'life0 self,
        document: &'life1 PersistedDocument,
        now: SystemTime,
    ) -> Pin<Box<dyn Future<Output = Result<KeepOutcome, StoreError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        Self: 'async_trait,
    {
        (**self).keep(document, now)
    }
}
