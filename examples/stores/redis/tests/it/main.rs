//! What the stores promise a host: one binary for all of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod conventions;
mod errors;
mod fan_out;
mod keys;
mod persisted;
mod server;
mod support;
