//! Behaviour of the public API.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod address;
mod allocations;
mod diagnosis;
mod ed25519;
mod ends;
mod event;
mod finding;
mod freshness;
mod hops;
mod host_rows;
mod ports;
mod providers;
mod receiver;
mod records;
mod rotation;
mod sender;
mod signature_header;
mod simulation;
mod stores;
mod vectors;
mod verify;
mod worker_simulation;
