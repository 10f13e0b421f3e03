//! Audits of live servers: one that keeps the rules, and one for each fault.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command_line;
mod desk;
mod faults;
