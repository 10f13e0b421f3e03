#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(all(feature = "receiver", feature = "sender")),
    allow(dead_code, reason = "both halves share the signatures and the secrets")
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod event;
pub mod memory;
pub mod ports;
#[cfg(feature = "receiver")]
pub mod receiver;
pub mod secret;
#[cfg(feature = "sender")]
pub mod sender;
pub mod signature;

pub use event::{Envelope, EventId, EventType};
#[cfg(feature = "sender")]
pub use host_ports::address::{self, AddressPolicy};
#[cfg(feature = "receiver")]
pub use receiver::{Inbox, Intake, Receiver, Verified, Verifier};
pub use secret::SigningSecret;
#[cfg(feature = "sender")]
pub use sender::{DeliveryPolicy, Dispatcher, Endpoint, EndpointStore, Outbox};
pub use signature::{Signer, Signers};
