#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod event;
pub mod memory;
pub mod ports;
pub mod receiver;
pub mod secret;
pub mod sender;
pub mod signature;

pub use event::{Envelope, EventId, EventType};
pub use host_ports::address::{self, AddressPolicy};
pub use receiver::{Inbox, Receiver, Verified, Verifier};
pub use secret::SigningSecret;
pub use sender::{DeliveryPolicy, Dispatcher, Endpoint, EndpointStore, Outbox};
pub use signature::{Signer, Signers};
