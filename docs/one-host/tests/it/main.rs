//! The worked example: its stores pass the conformance kits, and its page quotes its code.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kits;
mod page;
mod ports;
mod server;
