#![doc = include_str!("../README.md")]

pub mod basic;
#[cfg(feature = "aws-lc-rs")]
pub mod client;
pub mod error;
pub mod grant;
#[cfg(feature = "aws-lc-rs")]
pub mod jose;
#[cfg(feature = "aws-lc-rs")]
mod json;
pub mod memory;
pub mod params;
pub mod pkce;
pub mod ports;
mod random;
#[cfg(feature = "aws-lc-rs")]
pub mod resource;
mod response;
pub mod secret;
#[cfg(feature = "aws-lc-rs")]
pub mod server;
pub mod store;
pub mod store_error;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
pub mod vocabulary;
