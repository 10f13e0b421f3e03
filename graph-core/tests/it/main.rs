//! Behaviour of the public API.
