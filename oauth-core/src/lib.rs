//! placeholder

pub mod basic;
pub mod error;
pub mod grant;
#[cfg(feature = "aws-lc-rs")]
pub mod jose;
pub mod memory;
pub mod params;
pub mod pkce;
pub mod ports;
pub mod secret;
#[cfg(feature = "aws-lc-rs")]
pub mod server;
pub mod store;
pub mod store_error;
#[cfg(feature = "testing")]
pub mod testing;
pub mod vocabulary;
