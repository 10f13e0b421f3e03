//! Tests of the stores on SQLite files, in one binary.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod aes_256_gcm;
mod completes;
mod completes_events;
mod conformance;
mod crash;
mod database;
mod endpoints;
mod errors;
mod group_commit;
mod instances;
mod killed_keys;
mod killed_workers;
mod opening;
mod outbox;
mod parallel_requests;
mod persisted;
mod purge;
mod sealed;
mod support;
mod victim;
