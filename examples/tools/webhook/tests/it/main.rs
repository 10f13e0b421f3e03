//! Runs the program as a user at a terminal would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deliveries;
mod hostile;
mod listening;
mod program;
mod providers;
mod signatures;
#[cfg(unix)]
mod terminal;
