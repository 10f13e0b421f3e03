//! Where records are kept.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use crate::ports::StoreError;

use super::{Claim, ClaimOutcome, Fence, RecordKey, RequestOutcome};

/// Keeps what became of each key.
///
/// # What an implementation must guarantee
///
/// - Each verb is one atomic step: of any number of concurrent claims of a key, one is answered [`ClaimOutcome::Claimed`].
/// - A claim is decided by [`decide`](super::decide) on the record that is stored at that instant, and by nothing else.
/// - [`complete`](Self::complete) and [`release`](Self::release) write only while the record is in flight under exactly
///   this fence, whether its lease has ended or not: a holder that comes late must not touch what another has made of it.
/// - What was answered is durable: a record outlives a crash of the process where the host's own writes do.
/// - A record is never forgotten before it expires, and may be at any time after; sweep it then.
/// - Times keep at least their milliseconds; header values and bodies are bytes, and may be empty.
///
/// `http_conventions_conformance::idempotency_store!` checks all but durability.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Claims a key: loads its record, decides, and writes [`Claim::record`] over it when the claim is granted.
    ///
    /// # Errors
    ///
    /// When the store failed; nothing may be assumed about the record then.
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError>;

    /// Settles the record that this fence holds, and lets it live until `expires_at`.
    ///
    /// # Errors
    ///
    /// When the store failed; nothing may be assumed about the record then.
    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError>;

    /// Deletes the record that this fence holds, as if the key had never been used.
    ///
    /// # Errors
    ///
    /// When the store failed; nothing may be assumed about the record then.
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

/// Whether a holder could settle its record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the write happened or it did not")]
pub enum Settled {
    /// It is done.
    Done,
    /// The record is not held under this fence: nothing was written.
    Fenced,
}
