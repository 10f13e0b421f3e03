//! The one way in which a store port of this crate fails.

use std::error::Error;
use std::fmt;

/// A store could not do what it was asked to.
///
/// Says whether a retry makes sense ([`StoreError::kind`]) and keeps the cause for the log ([`Error::source`]). What is an
/// ordinary outcome (not there, expired, no room) is never a `StoreError`.
///
/// ```
/// use graph_core::store_error::{StoreError, StoreErrorKind};
///
/// let error = StoreError::unavailable("connection reset");
/// assert_eq!(error.kind(), StoreErrorKind::Unavailable);
/// assert_eq!(error.to_string(), "the store is unavailable");
/// ```
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    source: Box<dyn Error + Send + Sync>,
}

/// What a failure of a store means for the caller.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store did not answer, or not in time. A retry may succeed; every verb is written so that repeating it is safe.
    Unavailable,
    /// The store holds something that cannot be read back. A retry will fail in the same way; somebody has to look.
    Corrupt,
}

impl StoreError {
    /// A failure that a later attempt may not meet: connection lost, timeout, pool exhausted.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Unavailable,
            source: source.into(),
        }
    }

    /// A record that cannot be understood.
    pub fn corrupt(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Corrupt,
            source: source.into(),
        }
    }

    /// What the failure means for the caller.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Unavailable => "the store is unavailable",
            StoreErrorKind::Corrupt => "the store holds an unreadable record",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
