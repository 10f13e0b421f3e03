#![doc = include_str!("../README.md")]

mod database;
mod idempotency;
mod inbox;
mod instant;
mod order;
mod persisted;
mod rate_limit;
mod script;

pub use redis;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
