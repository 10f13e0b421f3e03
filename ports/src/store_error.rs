use std::error::Error;
use std::fmt;

/// A failed store operation: its kind, and the cause for the log.
///
/// Ordinary outcomes of a store (not found, already used, expired) are return values, never a
/// `StoreError`.
///
/// # Contract
///
/// - After an error the operation may or may not have taken effect. The caller can retry every
///   operation of the store ports with the same arguments.
/// - [`Display`](fmt::Display) shows only the kind. The cause can contain names of tables and
///   hosts, so only [`source`](Error::source) contains it, for the log.
///
/// ```
/// use host_ports::{StoreError, StoreErrorKind};
///
/// let error = StoreError::unavailable("connection reset");
/// assert_eq!(error.kind(), StoreErrorKind::Unavailable);
/// assert_eq!(error.to_string(), "store unavailable");
/// ```
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    source: Box<dyn Error + Send + Sync>,
}

/// Kind of a [`StoreError`]: whether a retry can help.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store is unreachable, locked, full or too slow. A later retry may succeed.
    Unavailable,
    /// The store holds an unreadable record, or refuses the operation permanently. A retry fails
    /// again; an operator must intervene.
    Corrupt,
}

impl StoreError {
    /// Creates an error of the kind [`Unavailable`](StoreErrorKind::Unavailable): connection lost,
    /// timeout, pool exhausted.
    #[must_use]
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Unavailable,
            source: source.into(),
        }
    }

    /// Creates an error of the kind [`Corrupt`](StoreErrorKind::Corrupt): an unreadable record.
    #[must_use]
    pub fn corrupt(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Corrupt,
            source: source.into(),
        }
    }

    /// Kind of the error.
    #[must_use]
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Unavailable => "store unavailable",
            StoreErrorKind::Corrupt => "store holds an unreadable record",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
