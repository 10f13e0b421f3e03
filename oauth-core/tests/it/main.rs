//! Behaviour of the public API.

mod memory_stores;
