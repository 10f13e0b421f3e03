//! Behaviour of the public API.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod address;
mod event;
mod receiver;
mod sender;
mod stores;
mod vectors;
mod verify;
