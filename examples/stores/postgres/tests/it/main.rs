//! Tests of the stores against a PostgreSQL server, in one binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../sqlite/tests/it/aes_256_gcm.rs"]
mod aes_256_gcm;
mod chaos;
mod completes;
mod completes_events;
mod conformance;
mod contention;
mod crash;
mod database;
mod endpoints;
mod errors;
mod killed;
mod killed_keys;
mod killed_workers;
mod outbox;
mod own_server;
mod parallel_requests;
mod persisted;
mod purge;
mod retention;
mod sealed;
mod server;
mod support;
mod tls;
