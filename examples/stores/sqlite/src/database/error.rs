//! Database errors. Their kind says whether a retry helps.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rusqlite::ErrorCode;

/// Failure of an operation or a query, or failure to open the database.
///
/// `Display` names the kind of failure; [`source`](Error::source) has SQLite's error.
#[derive(Clone, Debug)]
pub struct DatabaseError {
    kind: DatabaseErrorKind,
    source: Arc<dyn Error + Send + Sync>,
}

impl DatabaseError {
    pub(crate) fn new(
        kind: DatabaseErrorKind,
        source: impl Into<Box<dyn Error + Send + Sync + 'static>>,
    ) -> Self {
        Self {
            kind,
            source: Arc::from(source.into()),
        }
    }

    pub(crate) fn closed() -> Self {
        Self::new(DatabaseErrorKind::Unavailable, "the database thread has stopped")
    }

    pub(crate) fn panicked() -> Self {
        Self::new(DatabaseErrorKind::Failed, "the closure panicked")
    }

    pub(crate) fn rolled_back() -> Self {
        Self::new(
            DatabaseErrorKind::Unavailable,
            "the transaction of the batch was rolled back",
        )
    }

    /// Kind of the failure.
    #[must_use]
    pub fn kind(&self) -> DatabaseErrorKind {
        self.kind
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.kind {
            DatabaseErrorKind::Busy => "the database is locked by another process",
            DatabaseErrorKind::Full => "the disk is full",
            DatabaseErrorKind::Unavailable => "the database is unavailable",
            DatabaseErrorKind::Corrupt => "a stored value cannot be read",
            DatabaseErrorKind::Incompatible => {
                "the file belongs to another release or to another application"
            }
            DatabaseErrorKind::Failed => "the statement failed",
        })
    }
}

impl Error for DatabaseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(DatabaseErrorKind::of(&error), error)
    }
}

/// Kind of a [`DatabaseError`]; it says whether a retry helps.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DatabaseErrorKind {
    /// Another handle, in this process or another, held the write lock for longer than the busy
    /// timeout (5 s). Nothing was written; a retry is safe.
    Busy,
    /// The disk is full. Nothing was acknowledged; a retry is safe once there is room.
    Full,
    /// I/O failed, or the database is closed. Nothing was acknowledged; retrying an idempotent
    /// operation is safe.
    Unavailable,
    /// The file, or a value in it, cannot be read. A retry does not help.
    Corrupt,
    /// Another release made the tables of the file, or `PRAGMA user_version` is the value of
    /// another application. A retry does not help.
    Incompatible,
    /// The closure failed: a statement that SQLite refused, a violated constraint, a panic. Its
    /// writes were rolled back; retrying the same closure does not help.
    Failed,
}

impl DatabaseErrorKind {
    /// Returns `true` if the same operation may succeed later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Busy | Self::Full | Self::Unavailable)
    }

    fn of(error: &rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => Self::of_code(failure.code),
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Corrupt,
            _ => Self::Failed,
        }
    }

    fn of_code(code: ErrorCode) -> Self {
        match code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt,
            ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::OperationInterrupted
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure => Self::Unavailable,
            _ => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn each_failure_of_sqlite_has_its_kind() {
        let table = [
            (ffi::SQLITE_BUSY, DatabaseErrorKind::Busy),
            (ffi::SQLITE_LOCKED, DatabaseErrorKind::Busy),
            (ffi::SQLITE_FULL, DatabaseErrorKind::Full),
            (ffi::SQLITE_IOERR_FSYNC, DatabaseErrorKind::Unavailable),
            (ffi::SQLITE_CANTOPEN, DatabaseErrorKind::Unavailable),
            (ffi::SQLITE_READONLY, DatabaseErrorKind::Unavailable),
            (ffi::SQLITE_CORRUPT, DatabaseErrorKind::Corrupt),
            (ffi::SQLITE_NOTADB, DatabaseErrorKind::Corrupt),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, DatabaseErrorKind::Failed),
            (ffi::SQLITE_ERROR, DatabaseErrorKind::Failed),
        ];
        for (code, kind) in table {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(DatabaseError::from(error).kind(), kind, "{code}");
        }
    }
}
