//! placeholder

pub mod basic;
pub mod error;
pub mod params;
pub mod pkce;
pub mod ports;
pub mod secret;
pub mod store_error;
pub mod vocabulary;
