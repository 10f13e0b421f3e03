//! How long what is over stays.

use std::sync::Arc;

use std::time::SystemTime;

use async_trait::async_trait;

use crate::ports::StoreError;

/// What to let go of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PurgeRequest {
    /// Only events created before this, whose deliveries were all accepted, or last replayed, before it too.
    pub before: SystemTime,
    /// Also those with deliveries that failed; otherwise an event with one stays, for inspection and replay.
    pub failed: bool,
    /// How many events at most: call again until none is left.
    pub limit: usize,
}

/// Lets go of old events, beside the [`Outbox`](super::Outbox) that keeps them. A host calls it now and then.
///
/// # What an implementation must guarantee
///
/// - **An event goes as a whole**, with its deliveries and their attempts, in the step in which it was found to be over. One
///   with a live delivery stays, whatever its age.
/// - The call may be repeated after an error.
///
/// The kit `retention!` of `webhook-core-conformance` checks this, for a store that is an `Outbox` too.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Deletes old events that are over, and answers how many.
    ///
    /// The id of a deleted event is free: the same event sent again is a new one. Keep events for longer than any producer
    /// repeats itself.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; repeating the call goes on where it stopped.
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: Retention + ?Sized> Retention for Arc<S> {
    async fn purge(&self, request: &PurgeRequest) -> Result<u64, StoreError> {
        (**self).purge(request).await
    }
}
