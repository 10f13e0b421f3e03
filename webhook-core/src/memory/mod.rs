//! In-memory stores, for tests, demos, and hosts that may lose all data at a restart.

mod claims;
mod endpoints;
mod inbox;
mod latest_seen;
mod outbox;

pub use claims::MemoryClaims;
pub use endpoints::MemoryEndpoints;
pub use inbox::MemoryInbox;
pub use latest_seen::MemoryLatestSeen;
pub use outbox::MemoryOutbox;
