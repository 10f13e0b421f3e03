#![doc = include_str!("../README.md")]

pub mod column;
mod database;
mod idempotency;
mod json;
mod oauth;
mod purge;
mod rate_limit;
mod store_error;
mod webhook;

pub use rusqlite;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
pub use self::oauth::Attempts;
pub use self::webhook::{latest_seen, outbox};
