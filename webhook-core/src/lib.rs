#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod event;
pub mod memory;
pub mod ports;
pub mod receiver;
pub mod secret;
pub mod sender;
pub mod signature;

pub use host_ports::address;
