//! How each crate of the suite is told of a failure: as transient, or as one that somebody has to look at.

use crate::database::DatabaseError;

impl From<DatabaseError> for http_conventions::idempotency::StoreError {
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
