//! Conversion between errors of the database and of the suite's store ports.

use host_ports::{StoreError, StoreErrorKind};

use crate::database::{DatabaseError, DatabaseErrorKind};

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        if error.kind().is_transient() {
            Self::unavailable(error)
        } else {
            Self::corrupt(error)
        }
    }
}

/// For stored values that a codec of the suite refuses inside a transaction.
impl From<StoreError> for DatabaseError {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Corrupt => DatabaseErrorKind::Corrupt,
            _ => DatabaseErrorKind::Unavailable,
        };
        Self::new(kind, error)
    }
}
