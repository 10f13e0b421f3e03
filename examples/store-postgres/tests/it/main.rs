//! What the stores promise a host: one binary for all of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chaos;
mod conformance;
mod contention;
mod crash;
mod database;
mod errors;
mod killed;
mod outbox;
mod own_server;
mod purge;
mod retention;
mod server;
mod support;
