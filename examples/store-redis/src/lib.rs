#![doc = include_str!("../README.md")]

mod database;
mod inbox;
mod instant;
mod order;
mod script;

pub use redis;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
