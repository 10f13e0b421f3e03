#![doc = include_str!("../README.md")]

mod column;
mod database;
mod json;
mod oauth;
mod purge;
mod webhook;

pub use sqlx;

pub use self::database::{Database, DatabaseClock, DatabaseError, DatabaseErrorKind};
pub use self::webhook::{order, outbox};
