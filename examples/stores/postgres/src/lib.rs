#![cfg_attr(
    all(feature = "conventions", feature = "graph", feature = "oauth", feature = "webhooks"),
    doc = include_str!("../README.md")
)]
#![cfg_attr(
    not(all(
        feature = "conventions",
        feature = "graph",
        feature = "oauth",
        feature = "webhooks"
    )),
    doc = "PostgreSQL stores of the suite. Documentation built with all features has examples."
)]

mod column;
mod database;
#[cfg(feature = "conventions")]
pub mod idempotency;
#[cfg(any(feature = "conventions", feature = "oauth"))]
mod json;
#[cfg(feature = "oauth")]
mod oauth;
#[cfg(feature = "graph")]
mod persisted;
mod purge;
#[cfg(feature = "conventions")]
mod rate_limit;
#[cfg(feature = "webhooks")]
mod webhook;

pub use sqlx;

pub use self::database::{Database, DatabaseClock, DatabaseError, DatabaseErrorKind};
#[cfg(feature = "webhooks")]
pub use self::webhook::{endpoints, inbox, order, outbox};
