#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
mod answer;
pub mod attempts;
pub mod basic;
#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
pub mod client;
#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
pub mod dpop;
pub mod error;
pub mod event;
pub mod grant;
#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
pub mod jose;
#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
mod json;
pub mod memory;
pub mod mtls;
pub mod params;
pub mod pkce;
pub mod ports;
mod random;
#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
pub mod resource;
mod response;
pub mod secret;
#[cfg(any(feature = "aws-lc-rs", feature = "rust-crypto"))]
pub mod server;
pub mod session;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
pub mod vocabulary;
