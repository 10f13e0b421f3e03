//! placeholder

pub mod basic;
pub mod error;
pub mod grant;
pub mod memory;
pub mod params;
pub mod pkce;
pub mod ports;
pub mod secret;
pub mod store;
pub mod store_error;
#[cfg(feature = "testing")]
pub mod testing;
pub mod vocabulary;
