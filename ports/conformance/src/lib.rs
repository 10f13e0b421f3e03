#![doc = include_str!("../README.md")]

mod race;

pub use host_ports_conformance_macros::kit;
pub use race::{RACERS, race, race_of};

/// Wraps the store of one test; the macros of the kits call it.
#[doc(hidden)]
#[macro_export]
macro_rules! __store {
    (async $store:block) => {
        ::std::sync::Arc::new(async $store.await)
    };
    ($store:expr) => {
        ::std::sync::Arc::new($store)
    };
}
