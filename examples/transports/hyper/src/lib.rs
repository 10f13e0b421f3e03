#![doc = include_str!("../README.md")]

mod connect;
mod resolve;
mod tls;
mod transport;

pub use resolve::{Resolve, SystemResolver};
pub use transport::HyperTransport;
