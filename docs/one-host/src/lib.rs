//! A host of all four crates with its own PostgreSQL tables: the code of `docs/one-host.md`.

mod error;
mod ports;
mod store;

pub use self::error::store_error;
pub use self::ports::{Host, Ports};
pub use self::store::Store;
