//! Runs the program as somebody at a terminal would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deliveries;
mod listening;
mod program;
mod signatures;
