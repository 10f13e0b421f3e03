use std::error::Error;
use std::fmt;

/// A failed store operation: whether a retry can help, and the cause for the log.
///
/// Ordinary outcomes of a store (not found, already used, expired) are values of the operation, never a `StoreError`.
///
/// # Contract
///
/// - After an error, whether the operation took effect is unknown. Every operation of the suite's store ports may be
///   repeated with the same arguments.
/// - [`Display`](fmt::Display) names the kind alone. The cause, which may name tables and hosts, is in
///   [`source`](Error::source), for the log.
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

/// Whether a retry of a failed store operation can help.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store is unreachable, locked, full or too slow. A later retry may succeed.
    Unavailable,
    /// The store holds a record that cannot be read, or refuses the operation for good. A retry fails again; an operator
    /// has to look.
    Corrupt,
}

impl StoreError {
    /// An error that a later retry may not meet: connection lost, timeout, pool exhausted.
    #[must_use]
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Unavailable,
            source: source.into(),
        }
    }

    /// An error that every retry meets: a record that cannot be read.
    #[must_use]
    pub fn corrupt(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Corrupt,
            source: source.into(),
        }
    }

    /// Whether a retry can help.
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
