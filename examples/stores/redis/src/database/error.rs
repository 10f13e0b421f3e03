//! Database errors. Their kind says whether a retry helps.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use host_ports::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Failure of an operation or a connection.
///
/// `Display` names the kind of failure; [`source`](Error::source) has the client's error.
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
    #[cfg(any(
        feature = "conventions",
        feature = "graph",
        feature = "oauth",
        feature = "webhooks"
    ))]
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
            DatabaseErrorKind::Unavailable => "the server is unavailable",
            DatabaseErrorKind::Corrupt => "a stored value cannot be read",
            DatabaseErrorKind::Failed => "the command failed",
        })
    }
}

impl Error for DatabaseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<RedisError> for DatabaseError {
    fn from(error: RedisError) -> Self {
        let kind = DatabaseErrorKind::of(error.kind(), error.code());
        match error.kind() {
            // these errors quote the command or the response, including the password and bodies
            ErrorKind::AuthenticationFailed | ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
                Self::new(kind, error.category())
            }
            _ if error.code() == Some("ERR") => Self::new(kind, unquoted(error.detail())),
            _ => Self::new(kind, error),
        }
    }
}

/// The server's message without the arguments that it quotes.
fn unquoted(detail: Option<&str>) -> String {
    let told = detail.unwrap_or_default();
    let told = told.split_once("with args").map_or(told, |(told, _)| told);
    format!("ERR {told}")
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

/// Kind of a [`DatabaseError`]; it says whether a retry helps.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DatabaseErrorKind {
    /// The server cannot be reached, is loading, is a replica, has no memory left, or cannot write
    /// to its disk. The operation may have been executed; retrying the operation of a store is
    /// safe.
    Unavailable,
    /// A stored value cannot be read. A retry does not help.
    Corrupt,
    /// The server refused the command, the configuration is wrong, or the Redis user lacks a
    /// permission. A retry does not help.
    Failed,
}

impl DatabaseErrorKind {
    /// Returns `true` if the same operation may succeed later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable)
    }

    fn of(kind: ErrorKind, code: Option<&str>) -> Self {
        match kind {
            ErrorKind::ClusterConnectionNotFound
            | ErrorKind::Io
            | ErrorKind::MasterNameNotFoundBySentinel
            | ErrorKind::NoValidReplicasFoundBySentinel
            | ErrorKind::Parse
            | ErrorKind::Server(
                ServerErrorKind::BusyLoading
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
                | ServerErrorKind::TryAgain,
            ) => Self::Unavailable,
            ErrorKind::UnexpectedReturnType => Self::Corrupt,
            _ => match code {
                Some("BUSY" | "MISCONF" | "NOREPLICAS" | "OOM" | "UNKILLABLE") => Self::Unavailable,
                Some("CORRUPT" | "WRONGTYPE") => Self::Corrupt,
                _ => Self::Failed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_of_the_server_says_whether_a_retry_helps() {
        let table = [
            (ErrorKind::Io, None, DatabaseErrorKind::Unavailable),
            (
                ErrorKind::Server(ServerErrorKind::BusyLoading),
                Some("LOADING"),
                DatabaseErrorKind::Unavailable,
            ),
            (
                ErrorKind::Server(ServerErrorKind::ReadOnly),
                Some("READONLY"),
                DatabaseErrorKind::Unavailable,
            ),
            (ErrorKind::Extension, Some("OOM"), DatabaseErrorKind::Unavailable),
            (
                ErrorKind::Extension,
                Some("MISCONF"),
                DatabaseErrorKind::Unavailable,
            ),
            (
                ErrorKind::Extension,
                Some("WRONGTYPE"),
                DatabaseErrorKind::Corrupt,
            ),
            (ErrorKind::Extension, Some("CORRUPT"), DatabaseErrorKind::Corrupt),
            (ErrorKind::UnexpectedReturnType, None, DatabaseErrorKind::Corrupt),
            (ErrorKind::AuthenticationFailed, None, DatabaseErrorKind::Failed),
            (
                ErrorKind::Server(ServerErrorKind::NoPerm),
                Some("NOPERM"),
                DatabaseErrorKind::Failed,
            ),
        ];
        for (kind, code, expected) in table {
            assert_eq!(DatabaseErrorKind::of(kind, code), expected, "{kind:?} {code:?}");
        }
    }
}
