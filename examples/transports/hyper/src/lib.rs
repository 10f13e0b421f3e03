#![doc = include_str!("../README.md")]

mod connect;
mod connection;
mod exchange;
mod head;
mod pool;
mod resolve;
mod socket;
mod tls;
mod transport;

pub use resolve::{Resolve, SystemResolver};
pub use transport::HyperTransport;
