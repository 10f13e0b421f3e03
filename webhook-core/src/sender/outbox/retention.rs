//! Deletion of old events, or of their bodies alone.

use std::sync::Arc;

use std::time::SystemTime;

use async_trait::async_trait;

use crate::ports::StoreError;

/// Arguments of [`Retention::purge`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PurgeRequest {
    /// Delete only events that were created before this time, and whose deliveries were all
    /// accepted or last replayed before this time.
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
/// - An event is deleted with all its deliveries and attempts, in the same atomic step that checks
///   that all its deliveries are final.
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

    /// Deletes the bodies of old events, and keeps the events, their deliveries and the attempt
    /// log; returns the number of bodies.
    ///
    /// - It selects the events that [`purge`](Self::purge) would delete.
    /// - The deliveries of such an event cannot be replayed, and an endpoint that is registered
    ///   later does not get it.
    /// - The id stays taken: the same event, without a comparison of its body, is a
    ///   [`Duplicate`](super::Enqueued::Duplicate).
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. A repeated call continues.
    async fn expunge(&self, request: &PurgeRequest) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: Retention + ?Sized> Retention for Arc<S> {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        (**self).purge(request).await
    }

    async fn expunge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        (**self).expunge(request).await
    }
}
