//! Signed webhooks, both ends.

pub mod address;
pub mod event;
pub mod memory;
pub mod ports;
pub mod receiver;
pub mod secret;
pub mod sender;
pub mod signature;
#[cfg(feature = "testing")]
pub mod testing;
