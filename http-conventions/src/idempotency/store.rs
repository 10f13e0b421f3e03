//! Port for the storage of idempotency records.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use crate::ports::StoreError;

use super::{Claim, ClaimOutcome, Fence, RecordKey, RequestOutcome};

/// Stores the records of idempotency keys.
///
/// # Contract
///
/// - Each method is one atomic step: of concurrent claims of a key, exactly one returns
///   [`ClaimOutcome::Claimed`].
/// - [`decide`](super::decide) alone decides a claim, on the record that is stored at that instant.
/// - [`complete`](Self::complete) and [`release`](Self::release) write only while the record is in
///   flight under exactly this fencing token. The expiry of the lease does not matter. A late
///   holder must not change the record of another holder.
/// - Records are as durable as the host's own writes: they survive the same crashes. A claim that
///   is not [`is_durable`](Claim::is_durable) may be lost, but not after a later durable write.
/// - A record is never deleted before it expires. After that it may be deleted at any time.
/// - Times have at least millisecond precision. Header values and bodies are bytes and may be
///   empty.
///
/// `http_conventions_conformance::idempotency_store!` checks all of this except durability.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Claims a key: loads its record, decides, and writes [`Claim::record`] if the claim is
    /// granted.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed. The record may or may not have changed.
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError>;

    /// Settles the record that this fencing token holds, and sets its expiry to `expires_at`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed. The record may or may not have changed.
    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError>;

    /// Deletes the record that this fencing token holds, as if the key had never been used.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed. The record may or may not have changed.
    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError>;
}

#[async_trait]
impl<S: IdempotencyStore + ?Sized> IdempotencyStore for Arc<S> {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        (**self).claim(claim, now).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        (**self).complete(key, fence, outcome, expires_at).await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        (**self).release(key, fence).await
    }
}

/// Result of a settling write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the write happened or it did not")]
pub enum Settled {
    /// The record was written.
    Done,
    /// This fencing token does not hold the record: nothing was written.
    Fenced,
}
