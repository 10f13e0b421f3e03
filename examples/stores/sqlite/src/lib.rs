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
    doc = "Stores of the suite; the page of a build with all features has the examples."
)]

pub mod column;
mod database;
#[cfg(feature = "conventions")]
pub mod idempotency;
#[cfg(any(feature = "conventions", feature = "oauth", feature = "webhooks"))]
mod json;
#[cfg(feature = "oauth")]
mod oauth;
#[cfg(feature = "graph")]
mod persisted;
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
pub use self::webhook::{endpoints, inbox, latest_seen, outbox};
