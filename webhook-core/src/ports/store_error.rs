//! What a store answers when it could not do its verb.

use std::{error::Error, fmt};

/// A store verb failed; whether a retry is safe is in the [`kind`](Self::kind), the cause in [`source`](Error::source).
///
/// A verb that answers with an error has changed nothing, or the caller cannot know; every verb of this crate's stores may
/// be repeated with the same arguments.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    source: Box<dyn Error + Send + Sync>,
}

/// How a store failed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store cannot be reached, is locked, full or too slow. The same verb may be retried later.
    Unavailable,
    /// The store holds something that this crate did not write. A retry meets it again; a person has to look.
    Corrupt,
}

impl StoreError {
    /// The store cannot serve at the moment.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Unavailable,
            source: source.into(),
        }
    }

    /// The store holds what cannot be read.
    pub fn corrupt(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Corrupt,
            source: source.into(),
        }
    }

    /// Whether a retry can help.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Unavailable => "the store is unavailable",
            StoreErrorKind::Corrupt => "the store holds unreadable data",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_ref())
    }
}
