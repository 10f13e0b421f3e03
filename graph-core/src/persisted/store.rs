//! Store of automatic persisted queries.

use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use super::DocumentHash;
use crate::ports::StoreError;

/// Document that a client registered under the SHA-256 of its text.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a store writes all of it")]
pub struct PersistedDocument {
    /// SHA-256 of the text, verified by the engine.
    pub hash: DocumentHash,
    /// Document text as the client sent it.
    pub text: Arc<str>,
    /// Expiry: the text must not be served at or after this time.
    pub expires_at: SystemTime,
}

impl PersistedDocument {
    /// Creates a document with the hash of `text` that expires at `expires_at`.
    #[must_use]
    pub fn new(text: &str, expires_at: SystemTime) -> Self {
        Self {
            hash: DocumentHash::digest(text),
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
    /// The document was absent and is now stored.
    New,
    /// The document was already stored. It now expires at the later of its old and its new
    /// `expires_at`.
    Known,
    /// The document is too large for the store. Nothing changed.
    TooLarge,
}

/// Store of documents by their hash.
///
/// # Contract
///
/// - The store returns a text byte for byte or not at all. The engine verifies the hash of the
///   returned text. If the hash differs, the engine reports an incident and does not execute the
///   text.
/// - The store is bounded, by size or by expiry. It may evict any document at any time: the client
///   then registers the document again. It must not return a text at or after its `expires_at`.
/// - Each method is one atomic step. If several callers store an absent document concurrently,
///   exactly one of them gets [`KeepOutcome::New`]. No call shortens the lifetime of a stored
///   document.
/// - Times have nanosecond precision; `expires_at` is stored without rounding.
///
/// The macro `persisted_store!` of `graph-core-conformance` tests this contract.
#[async_trait]
pub trait PersistedStore: Send + Sync {
    /// Returns the text of `hash`; `None` if the text is not stored or has expired at `now`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store is unavailable. The engine then treats the hash as unknown.
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError>;

    /// Stores `document`. A stored document that expired at or before `now` counts as absent.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store is unavailable. The engine then executes the operation without
    /// storing its text. The call can be repeated.
    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError>;
}

// expanded by hand: an `async fn` would box the store's future a second time
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
