//! Behaviour of the public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod entity_tags;
mod idempotency;
mod idempotency_failures;
mod idempotency_fixture;
mod idempotency_records;
mod locations;
mod pages;
mod pagination;
mod preconditions;
mod problems;
mod request_ids;
mod store_kit;
