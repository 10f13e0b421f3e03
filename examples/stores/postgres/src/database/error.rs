//! Database errors. Their kind says whether a retry helps.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use host_ports::{StoreError, StoreErrorKind};

/// Failure of an operation, a query or a connection.
///
/// `Display` names the kind of failure; [`source`](Error::source) has the driver's error.
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

    /// Creates the error for a stored value that this release cannot read.
    pub(crate) fn corrupt(source: impl Into<Box<dyn Error + Send + Sync + 'static>>) -> Self {
        Self::new(DatabaseErrorKind::Corrupt, source)
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
            DatabaseErrorKind::Busy => "another transaction conflicts",
            DatabaseErrorKind::Unavailable => "the database is unavailable",
            DatabaseErrorKind::Corrupt => "a stored value cannot be read",
            DatabaseErrorKind::Incompatible => "the tables were made by another release",
            DatabaseErrorKind::Failed => "the statement failed",
        })
    }
}

impl Error for DatabaseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        let kind = DatabaseErrorKind::of(&error);
        match error.as_database_error() {
            // integrity violation: its detail shows the rejected row, which may hold secrets
            Some(refused) if refused.code().is_some_and(|code| code.starts_with("23")) => {
                Self::new(kind, refused.message())
            }
            _ => Self::new(kind, error),
        }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        if error.kind().is_transient() {
            Self::unavailable(error)
        } else {
            Self::corrupt(error)
        }
    }
}

/// Converts the error of a codec that cannot decode a stored value inside a transaction.
impl From<StoreError> for DatabaseError {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Corrupt => DatabaseErrorKind::Corrupt,
            _ => DatabaseErrorKind::Unavailable,
        };
        Self::new(kind, error)
    }
}

/// Kind of a [`DatabaseError`]; it says whether a retry helps.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DatabaseErrorKind {
    /// A deadlock, a serialization failure, or a wait for a lock that exceeded `lock_timeout`. The
    /// transaction was rolled back; retrying the whole transaction is safe.
    Busy,
    /// The database cannot be reached, is starting or stopping, is a read-only replica, has no disk
    /// space, memory or connection left, or did not respond within a timeout. The transaction may
    /// have been committed; retrying an idempotent operation is safe.
    Unavailable,
    /// A stored value cannot be read. A retry does not help.
    Corrupt,
    /// Another release made the tables. A retry does not help.
    Incompatible,
    /// PostgreSQL rejected the statement, a constraint was violated, the configuration is wrong, or
    /// the role lacks a permission. A retry does not help.
    Failed,
}

impl DatabaseErrorKind {
    /// Returns `true` if the same operation may succeed later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Busy | Self::Unavailable)
    }

    fn of(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) => error.code().map_or(Self::Failed, |code| Self::of_code(&code)),
            sqlx::Error::BeginFailed
            | sqlx::Error::Io(_)
            | sqlx::Error::PoolClosed
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::Protocol(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::WorkerCrashed => Self::Unavailable,
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::RowNotFound
            | sqlx::Error::TypeNotFound { .. } => Self::Corrupt,
            _ => Self::Failed,
        }
    }

    /// Maps a SQLSTATE
    /// [code](https://www.postgresql.org/docs/current/errcodes-appendix.html), by its class if the
    /// code itself is not listed.
    fn of_code(code: &str) -> Self {
        match code {
            "55P03" => Self::Busy,
            "25006" | "25P03" => Self::Unavailable,
            "XX001" | "XX002" => Self::Corrupt,
            code => match code.get(..2) {
                Some("40") => Self::Busy,
                Some("08" | "53" | "57" | "58") => Self::Unavailable,
                _ => Self::Failed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_of_the_server_says_whether_a_retry_helps() {
        let table = [
            ("40001", DatabaseErrorKind::Busy),
            ("40P01", DatabaseErrorKind::Busy),
            ("55P03", DatabaseErrorKind::Busy),
            ("08006", DatabaseErrorKind::Unavailable),
            ("53100", DatabaseErrorKind::Unavailable),
            ("53300", DatabaseErrorKind::Unavailable),
            ("57014", DatabaseErrorKind::Unavailable),
            ("57P01", DatabaseErrorKind::Unavailable),
            ("57P03", DatabaseErrorKind::Unavailable),
            ("25006", DatabaseErrorKind::Unavailable),
            ("25P03", DatabaseErrorKind::Unavailable),
            ("58030", DatabaseErrorKind::Unavailable),
            ("XX001", DatabaseErrorKind::Corrupt),
            ("23505", DatabaseErrorKind::Failed),
            ("28P01", DatabaseErrorKind::Failed),
            ("42P01", DatabaseErrorKind::Failed),
            ("", DatabaseErrorKind::Failed),
        ];
        for (code, kind) in table {
            assert_eq!(DatabaseErrorKind::of_code(code), kind, "{code}");
        }
    }
}
