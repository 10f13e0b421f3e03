//! Automatic persisted queries.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{DocumentHash, PersistedDocument, PersistedStore};
use crate::ports::{Clock, StoreError};

/// A century: additions of it to any clock's time are in range.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Serves operations by the hash of their text, and keeps what clients register.
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
/// Anybody may register a document that fits the schema and the limits; this saves bytes and is no allow-list. What can be
/// registered is what could be run anyway, and a hash is answered only with the text that it is the hash of.
#[derive(Clone)]
pub struct AutomaticPersistedQueries {
    store: Arc<dyn PersistedStore>,
    clock: Arc<dyn Clock>,
    lifetime: Duration,
    text_limit: usize,
}

impl AutomaticPersistedQueries {
    /// Keeps texts in `store`, for a day after they were registered last, unless they are longer than 64 KiB.
    #[must_use]
    pub fn new(store: impl PersistedStore + 'static, clock: impl Clock + 'static) -> Self {
        Self {
            store: Arc::new(store),
            clock: Arc::new(clock),
            lifetime: Duration::from_secs(86_400),
            text_limit: 64 << 10,
        }
    }

    /// A text ends `lifetime` after it was registered last; a century is the longest.
    ///
    /// An engine that has compiled a document may serve it longer: a text never changes under its hash.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime.min(LONGEST);
        self
    }

    /// A text of more than `bytes` runs when it is sent, and is not kept.
    #[must_use]
    pub fn with_text_limit(mut self, bytes: usize) -> Self {
        self.text_limit = bytes;
        self
    }

    /// The text of `hash`, if there is one that fits it.
    pub(crate) async fn text(&self, hash: &DocumentHash) -> Result<Option<Arc<str>>, StoreError> {
        let text = self.store.text(hash, self.clock.now()).await?;
        match text {
            Some(text) if DocumentHash::of(&text) != *hash => {
                Err(StoreError::corrupt(format!("the text of {hash} is another one")))
            }
            text => Ok(text),
        }
    }

    /// Keeps `text`, whose hash is `hash`.
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
        // whether it was there, or there is room for it, makes no difference to this request
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
