//! Recognising repetitions: the port to the store that claims and queues.

use std::sync::Arc;

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{event::EventId, ports::StoreError};

/// Claims events and queues them, in one step.
///
/// With two steps, claim and then queue, a crash in between loses the event: the sender tries again and is told that it was
/// a repetition.
///
/// # What an implementation must guarantee
///
/// - [`claim_and_enqueue`](Self::claim_and_enqueue) is one atomic step, durable before it answers. Of any number of
///   simultaneous calls for one key, over all processes, exactly one is [`Claim::Enqueued`].
/// - A claim lives while `now < expires_at`. At the instant of its end it may be claimed again.
/// - Only [`Claim::Enqueued`] writes anything; the other answers leave claim and queue as they were.
/// - Keys are compared byte for byte. The body is kept byte for byte: it need not be text.
/// - An event stays queued until it is finished, also when its claim ends before.
/// - Where the queue is another system, the claim is written first, with a lease; until the queue has confirmed, a repetition
///   is [`Claim::Pending`], and after the lease it is queued anew: [`ClaimThenQueue`](super::ClaimThenQueue).
#[async_trait]
pub trait Dedupe: Send + Sync {
    /// Claims `event` if nobody has, and queues it in the same step.
    ///
    /// # Errors
    ///
    /// When the store cannot say what happened. The sender is asked to try again, and then learns whether it had happened.
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError>;
}

#[async_trait]
impl<S: Dedupe + ?Sized> Dedupe for Arc<S> {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        (**self).claim_and_enqueue(event, now).await
    }
}

/// A verified event on its way into the queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Incoming {
    /// What it is recognised by.
    pub key: EventKey,
    /// The digest of the body, to notice another body under the same key.
    pub digest: BodyDigest,
    /// The exact bytes that were signed.
    pub body: Bytes,
    /// The first instant at which the key may be claimed again.
    pub expires_at: SystemTime,
}

/// Identifies an event among all senders: two of them may use one id.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct EventKey {
    /// The sender, by the name that the host gave to the [`Receiver`](super::Receiver).
    pub source: String,
    /// The sender's id of the event.
    pub id: EventId,
}

/// The SHA-256 of a body.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BodyDigest([u8; 32]);

impl BodyDigest {
    /// The digest of `body`.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }

    /// The 32 bytes, for a store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for BodyDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// What became of an event that was to be claimed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claim {
    /// It was new. It is claimed, and in the queue.
    Enqueued,
    /// It had been claimed with the same body, and queued.
    Duplicate,
    /// It had been claimed with another body: the sender gave one id to two events.
    Conflict,
    /// It is claimed by a delivery that has not queued it yet. The sender must come again, or the event is lost should that
    /// delivery fail.
    Pending {
        /// After how long the answer will be another one.
        retry_after: Duration,
    },
}
