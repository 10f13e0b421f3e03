//! Stores in memory, for tests, demos and hosts that may forget everything when they stop.

mod inbox;

pub use inbox::MemoryInbox;
