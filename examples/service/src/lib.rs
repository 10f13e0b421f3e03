//! The payments desk: a service that puts the four crates of the suite together.
//!
//! `domain` holds the business as values and rules, `desk` keeps it in SQLite and sends its events, `app` answers requests
//! without a framework, and `serve` runs it on a listener. The crate `tour` walks through all of it as a client would. The three binaries
//! differ in the server they put around it: hyper, axum or actix-web.

pub mod app;
pub mod cli;
pub mod clock;
pub mod desk;
pub mod domain;
pub mod mail;
pub mod seed;
pub mod serve;
pub mod wire;

use webhook_core::ports::{Entropy, OsEntropy};

/// Bytes that nobody can guess.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    OsEntropy.fill(&mut bytes);
    bytes
}

/// The snippets of the project's README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
