//! Tests of the stores against a Redis server, in one binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod conventions;
mod errors;
mod fan_out;
mod keys;
mod persisted;
mod server;
mod support;
mod tls;
