//! How each crate of the suite is told of a failure: as transient, or as one that somebody has to look at.

use crate::database::{DatabaseError, DatabaseErrorKind};

impl From<DatabaseError> for http_conventions::idempotency::StoreError {
    fn from(error: DatabaseError) -> Self {
        if error.kind().is_transient() {
            Self::unavailable(error)
        } else {
            Self::corrupt(error)
        }
    }
}

impl From<DatabaseError> for http_conventions::rate_limit::StoreError {
    fn from(error: DatabaseError) -> Self {
        if error.kind().is_transient() {
            Self::unavailable(error)
        } else {
            Self::corrupt(error)
        }
    }
}

impl From<DatabaseError> for oauth_core::store_error::StoreError {
    fn from(error: DatabaseError) -> Self {
        if error.kind().is_transient() {
            Self::unavailable(error)
        } else {
            Self::corrupt(error)
        }
    }
}

impl From<DatabaseError> for webhook_core::ports::StoreError {
    fn from(error: DatabaseError) -> Self {
        if error.kind().is_transient() {
            Self::unavailable(error)
        } else {
            Self::corrupt(error)
        }
    }
}

/// What the codec of the signers says.
impl From<webhook_core::ports::StoreError> for DatabaseError {
    fn from(error: webhook_core::ports::StoreError) -> Self {
        let kind = match error.kind() {
            webhook_core::ports::StoreErrorKind::Corrupt => DatabaseErrorKind::Corrupt,
            _ => DatabaseErrorKind::Unavailable,
        };
        Self::new(kind, error)
    }
}
