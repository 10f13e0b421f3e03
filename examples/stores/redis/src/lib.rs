#![doc = include_str!("../README.md")]

mod database;
mod fan_out;
mod idempotency;
mod inbox;
mod instant;
mod order;
mod persisted;
mod rate_limit;
mod replays;
mod script;

pub use redis;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
pub use self::fan_out::Listener;
