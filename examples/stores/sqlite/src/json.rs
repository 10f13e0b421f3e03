//! Records as JSON text in one column, for crates whose records implement serde.

use std::error::Error;
use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::database::{DatabaseError, DatabaseErrorKind};

/// A record and its JSON text, made before an operation is queued to save time of the writer.
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

/// A record parsed from its text.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(|error| FromSqlError::other(NoRecord::of(&error)))
    }
}

/// Error for a stored text that is no such record. serde's message quotes the text, so it is not
/// passed on.
#[derive(Clone, Copy, Debug)]
struct NoRecord {
    line: usize,
    column: usize,
}

impl NoRecord {
    fn of(error: &serde_json::Error) -> Self {
        Self {
            line: error.line(),
            column: error.column(),
        }
    }
}

impl fmt::Display for NoRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column } = self;
        write!(f, "no such record, by line {line} and byte {column} of its text")
    }
}

impl Error for NoRecord {}
