//! Signed webhooks, both ends.

pub mod event;
pub mod ports;
pub mod secret;
pub mod signature;
