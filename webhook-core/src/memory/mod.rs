//! In-memory stores, for tests, demos, and hosts that may lose all data at a restart.

#[cfg(feature = "receiver")]
mod claims;
#[cfg(feature = "sender")]
mod endpoints;
#[cfg(feature = "receiver")]
mod inbox;
#[cfg(feature = "receiver")]
mod latest_seen;
#[cfg(feature = "sender")]
mod outbox;

#[cfg(feature = "receiver")]
pub use claims::MemoryClaims;
#[cfg(feature = "sender")]
pub use endpoints::MemoryEndpoints;
#[cfg(feature = "receiver")]
pub use inbox::MemoryInbox;
#[cfg(feature = "receiver")]
pub use latest_seen::MemoryLatestSeen;
#[cfg(feature = "sender")]
pub use outbox::MemoryOutbox;
