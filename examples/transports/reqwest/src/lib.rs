#![doc = include_str!("../README.md")]

mod body;
mod resolve;
mod transport;

pub use resolve::SystemResolver;
pub use transport::{BuildError, Builder, ReqwestTransport};
