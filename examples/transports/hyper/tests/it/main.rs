//! The transport against receivers on loopback, most of them hostile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod deadline;
mod exchange;
mod fetch;
mod floods;
mod oauth;
mod proxy;
mod receiver;
mod tls;
