//! The payments desk: a service that combines the four crates of the suite.
//!
//! `domain` holds values and rules, `desk` stores them in SQLite or PostgreSQL and sends webhook
//! events, `app` handles requests without a framework, and `serve` runs the app on a listener. The
//! crate `tour` calls all of it as a client. The three binaries differ in the server: hyper, axum
//! or actix-web.

pub mod app;
pub mod cli;
pub mod clock;
pub mod desk;
pub mod domain;
mod foreign;
pub mod logging;
pub mod mail;
pub mod seed;
pub mod serve;
mod start;
pub mod stores;
mod tls;
pub mod wire;

use webhook_core::ports::{Entropy, OsEntropy};

/// Random bytes of the operating system, for identifiers and secrets.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    OsEntropy.fill(&mut bytes);
    bytes
}

/// The code blocks of the repository's README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
