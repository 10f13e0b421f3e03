#![doc = include_str!("../README.md")]

mod column;
mod database;
mod idempotency;
mod json;
mod oauth;
mod purge;
mod rate_limit;
mod webhook;

pub use sqlx;

pub use self::database::{Database, DatabaseClock, DatabaseError, DatabaseErrorKind};
pub use self::webhook::{order, outbox};
