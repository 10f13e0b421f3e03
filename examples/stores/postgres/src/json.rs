//! Records as JSON text in one column, for crates whose records implement serde.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::database::{DatabaseError, DatabaseErrorKind};

/// A record and its JSON text.
pub(crate) struct Document<T> {
    #[cfg_attr(
        not(feature = "oauth"),
        expect(dead_code, reason = "only tokens are looked at again")
    )]
    pub(crate) record: T,
    pub(crate) text: String,
}

impl<T: Serialize> Document<T> {
    pub(crate) fn new(record: T) -> Result<Self, DatabaseError> {
        let failed = |error| DatabaseError::new(DatabaseErrorKind::Failed, error);
        Ok(Self {
            text: serde_json::to_string(&record).map_err(failed)?,
            record,
        })
    }
}

/// Parses a record.
pub(crate) fn record<T: DeserializeOwned>(text: &str) -> Result<T, DatabaseError> {
    serde_json::from_str(text).map_err(|error| {
        // serde's message quotes the stored value
        DatabaseError::corrupt(format!("no such record, by byte {} of its text", error.column()))
    })
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::database::DatabaseErrorKind;

    #[test]
    fn errors_show_no_stored_value() {
        let error = record::<u32>(r#""the address of a person""#).unwrap_err();
        assert_eq!(error.kind(), DatabaseErrorKind::Corrupt);
        let source = error.source().unwrap().to_string();
        assert!(
            !source.contains("a person") && source.contains("byte 25"),
            "{source}"
        );
    }
}
