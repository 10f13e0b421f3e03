//! Detection of duplicates: the port of the store that claims and queues events.

use std::sync::Arc;

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{event::EventId, ports::StoreError};

/// Claims the id of an event and queues the event, in one atomic step.
///
/// Two separate steps could lose an event: if the receiver crashes after the claim and before the
/// queue has the event, it acknowledges the sender's retry as a duplicate.
///
/// # Contract
///
/// - [`claim_and_enqueue`](Self::claim_and_enqueue) is one atomic step and durable before it
///   returns. Of any number of concurrent calls for one unclaimed key, in all processes, exactly
///   one returns [`Claim::Enqueued`].
/// - A claim is valid while `now < expires_at`. When `now >= expires_at`, the key can be claimed
///   again.
/// - Only [`Claim::Enqueued`] writes. All other results leave claim and queue unchanged.
/// - Keys are compared byte for byte. The body is stored byte for byte; it need not be text.
/// - An event stays in the queue until it is finished, even after its claim has expired.
/// - If the queue is in another system, write the claim first, with a lease. Until the queue has
///   confirmed the event, a duplicate returns [`Claim::Pending`]; after the lease the event is
///   queued again. [`ClaimThenQueue`](super::ClaimThenQueue) implements this.
///
/// The kit `dedupe_store!` of `webhook-core-conformance` checks these rules, except the last.
#[async_trait]
pub trait Dedupe: Send + Sync {
    /// Claims and queues `event`, unless its key is claimed already.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. The sender is asked to retry; the retry then
    /// returns [`Claim::Duplicate`] if this call was stored.
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError>;
}

#[async_trait]
impl<S: Dedupe + ?Sized> Dedupe for Arc<S> {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        (**self).claim_and_enqueue(event, now).await
    }
}

/// Verified event that is to be queued.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Incoming {
    /// Key for the detection of duplicates.
    pub key: EventKey,
    /// Digest of the event, to detect another event under the same key: of the body, or of the id
    /// alone for a sender that changes other members between two attempts.
    pub digest: BodyDigest,
    /// Exact bytes that were signed.
    pub body: Bytes,
    /// First instant at which the key can be claimed again.
    pub expires_at: SystemTime,
}

/// Key of an event over all senders. Two senders may use the same event id.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct EventKey {
    /// Name of the sender, as given to [`Receiver::builder`](super::Receiver::builder).
    pub source: String,
    /// Event id that the sender assigned.
    pub id: EventId,
}

/// SHA-256 digest of a body.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BodyDigest([u8; 32]);

impl BodyDigest {
    /// Computes the digest of `body`.
    #[must_use]
    pub fn compute(body: &[u8]) -> Self {
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

/// Result of [`Dedupe::claim_and_enqueue`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claim {
    /// The event is new. It is claimed and queued.
    Enqueued,
    /// Duplicate: the key was claimed with the same body, and the event is queued.
    Duplicate,
    /// Conflict: the key was claimed with another body. The sender used one id for two events.
    Conflict,
    /// The event is claimed by another delivery that has not queued it yet.
    ///
    /// The sender must retry: if that delivery fails, the retry queues the event.
    Pending {
        /// Time after which a retry gets another result.
        retry_after: Duration,
    },
}
