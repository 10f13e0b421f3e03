#![doc = include_str!("../README.md")]

pub mod column;
mod database;
#[cfg(feature = "conventions")]
mod idempotency;
#[cfg(any(feature = "conventions", feature = "oauth", feature = "webhooks"))]
mod json;
#[cfg(feature = "oauth")]
mod oauth;
mod purge;
#[cfg(feature = "conventions")]
mod rate_limit;
mod store_error;
#[cfg(feature = "webhooks")]
mod webhook;

pub use rusqlite;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
#[cfg(feature = "oauth")]
pub use self::oauth::Attempts;
#[cfg(feature = "webhooks")]
pub use self::webhook::{latest_seen, outbox};
