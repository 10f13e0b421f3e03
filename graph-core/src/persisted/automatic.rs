//! Automatic persisted queries (APQ).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{DocumentHash, PersistedDocument, PersistedStore};
use crate::ports::{Clock, StoreError};

/// 100 years: the maximum lifetime that fits every clock's range.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Settings of automatic persisted queries: the client registers a document and then sends only its
/// hash.
///
/// ```
/// use std::time::Duration;
///
/// use graph_core::memory::MemoryPersisted;
/// use graph_core::persisted::AutomaticPersistedQueries;
/// use graph_core::ports::SystemClock;
///
/// let store = MemoryPersisted::new(8 << 20); // bytes
/// let automatic = AutomaticPersistedQueries::new(store, SystemClock)
///     .with_lifetime(Duration::from_secs(7 * 86_400))
///     .with_text_limit(32 << 10);
/// # drop(automatic);
/// ```
///
/// # Security
///
/// - Automatic persisted queries are not an allow-list: any client can register any document that
///   passes validation and the limits. For an allow-list use
///   [`TrustedDocuments`](super::TrustedDocuments).
/// - The engine verifies the SHA-256 of each text that it registers or loads.
#[derive(Clone)]
pub struct AutomaticPersistedQueries {
    store: Arc<dyn PersistedStore>,
    clock: Arc<dyn Clock>,
    lifetime: Duration,
    text_limit: usize,
}

impl AutomaticPersistedQueries {
    /// Creates settings with a store for the documents and a clock for their expiry. Default
    /// lifetime: 1 day. Default maximum size of a document: 64 KiB.
    #[must_use]
    pub fn new(store: impl PersistedStore + 'static, clock: impl Clock + 'static) -> Self {
        Self {
            store: Arc::new(store),
            clock: Arc::new(clock),
            lifetime: Duration::from_secs(86_400),
            text_limit: 64 << 10,
        }
    }

    /// Sets the lifetime of a document after its last registration. Default: 1 day; maximum: 100
    /// years.
    ///
    /// The engine's plan cache can serve a compiled document after its lifetime. This is safe,
    /// because the text of a hash never changes.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime.min(LONGEST);
        self
    }

    /// Sets the maximum size of a stored document in bytes. Default: 64 KiB. A larger document is
    /// executed but not stored.
    #[must_use]
    pub fn with_text_limit(mut self, bytes: usize) -> Self {
        self.text_limit = bytes;
        self
    }

    /// Loads the text of `hash` and verifies its hash.
    pub(crate) async fn text(&self, hash: &DocumentHash) -> Result<Option<Arc<str>>, StoreError> {
        let text = self.store.text(hash, self.clock.now()).await?;
        match text {
            Some(text) if DocumentHash::digest(&text) != *hash => Err(StoreError::corrupt(format!(
                "the stored text does not match the hash {hash}"
            ))),
            text => Ok(text),
        }
    }

    /// Stores `text`, whose hash is `hash`.
    pub(crate) async fn keep(&self, hash: DocumentHash, text: &str) -> Result<(), StoreError> {
        if text.len() > self.text_limit {
            return Ok(());
        }
        let now = self.clock.now();
        let document = PersistedDocument {
            hash,
            text: text.into(),
            expires_at: now.checked_add(self.lifetime).unwrap_or(now),
        };
        // the outcome does not affect this request
        self.store.keep(&document, now).await.map(drop)
    }
}

impl fmt::Debug for AutomaticPersistedQueries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AutomaticPersistedQueries")
            .field("lifetime", &self.lifetime)
            .field("text_limit", &self.text_limit)
            .finish_non_exhaustive()
    }
}
