#![cfg_attr(
    all(feature = "conventions", feature = "webhooks"),
    doc = include_str!("../README.md")
)]
#![cfg_attr(
    not(all(feature = "conventions", feature = "webhooks")),
    doc = "Redis stores. With all features enabled, this page contains the README and its example."
)]

#[cfg(feature = "webhooks")]
mod claims;
mod database;
mod fan_out;
#[cfg(feature = "conventions")]
mod idempotency;
#[cfg(feature = "webhooks")]
mod inbox;
#[cfg(any(
    feature = "conventions",
    feature = "graph",
    feature = "oauth",
    feature = "webhooks"
))]
mod instant;
#[cfg(feature = "webhooks")]
mod order;
#[cfg(feature = "graph")]
mod persisted;
#[cfg(feature = "conventions")]
mod rate_limit;
#[cfg(feature = "oauth")]
mod replays;
#[cfg(any(
    feature = "conventions",
    feature = "graph",
    feature = "oauth",
    feature = "webhooks"
))]
mod script;

pub use redis;

pub use self::database::{Database, DatabaseError, DatabaseErrorKind};
pub use self::fan_out::{Listener, Received};
