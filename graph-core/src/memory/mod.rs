//! In-memory store, for one process and for tests.

mod persisted;

pub use self::persisted::MemoryPersisted;
