#![doc = include_str!("../README.md")]

pub mod persisted_store;

#[doc(hidden)]
pub use host_ports_conformance::__store;
