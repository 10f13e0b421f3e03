#![doc = include_str!("../README.md")]

mod resolve;
mod transport;

pub use resolve::SystemResolver;
pub use transport::{BuildError, Builder, ReqwestTransport};
