//! Deletion of old events.

use std::sync::Arc;

use std::time::SystemTime;

use async_trait::async_trait;

use crate::ports::StoreError;

/// Arguments of [`Retention::purge`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PurgeRequest {
    /// Delete only events created before this time whose deliveries were all accepted, or last
    /// replayed, before it.
    pub before: SystemTime,
    /// If `true`, also delete events with failed deliveries; otherwise they stay for inspection and
    /// replay.
    pub failed: bool,
    /// Maximum number of events per call. Repeat the call until it returns 0.
    pub limit: usize,
}

/// Deletes old events of an [`Outbox`](super::Outbox). The host calls it periodically.
///
/// # Contract
///
/// - An event is deleted with all its deliveries and attempts, in the step that found them to be
///   final.
/// - An event with a live delivery stays, whatever its age.
/// - The call may be repeated after an error.
///
/// The kit `retention!` of `webhook-core-conformance` checks these rules for a store that also
/// implements `Outbox`.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Deletes old events without live deliveries; returns their number.
    ///
    /// The id of a deleted event is free: if a producer sends the event again, it is delivered as a
    /// new event. Keep events longer than any producer retries.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. A repeated call continues.
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: Retention + ?Sized> Retention for Arc<S> {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        (**self).purge(request).await
    }
}
