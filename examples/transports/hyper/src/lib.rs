#![doc = include_str!("../README.md")]

mod connect;
mod connection;
mod exchange;
mod head;
mod pool;
mod proxy;
mod resolve;
mod socket;
mod tls;
mod transport;

pub use host_ports::address::AddressPolicy;
pub use proxy::{InvalidProxy, Proxy};
pub use resolve::{Resolve, SystemResolver};
pub use transport::HyperTransport;
