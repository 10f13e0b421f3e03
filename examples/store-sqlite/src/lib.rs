//! The stores of the suite in one SQLite file.

pub mod column;
mod database;

pub use rusqlite;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
