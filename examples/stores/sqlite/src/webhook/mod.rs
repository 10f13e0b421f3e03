//! The stores of `webhook_core`: the receiver's claims and queue, the sender's outbox and
//! endpoints.

mod claims;
pub mod endpoints;
pub mod inbox;
pub mod latest_seen;
pub mod outbox;
mod seal;

pub(crate) use self::outbox::InstanceLocks;
