//! Behaviour of the public API.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod entity_tags;
mod idempotency;
mod idempotency_records;
mod preconditions;
