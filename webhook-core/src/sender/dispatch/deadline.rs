//! Time limits of port calls.

use std::{pin::pin, time::Duration};

use futures_util::future::{Either, select};

use super::Dispatcher;
use crate::ports::StoreError;

/// Time limits of the calls of each port.
pub(super) struct Limits;

impl Limits {
    /// A method of the outbox.
    pub(super) const VERB: Duration = Duration::from_secs(20);
    /// A method of the endpoint store.
    pub(super) const LOAD: Duration = Duration::from_secs(10);
    /// A heartbeat.
    pub(super) const BEAT: Duration = Duration::from_secs(3);
    /// Extra time of an exchange after its deadline, which the transport should enforce.
    pub(super) const TRANSPORT_GRACE: Duration = Duration::from_secs(2);
}

/// Source of a store error: the port did not respond in time.
#[derive(Debug, thiserror::Error)]
#[error("the store did not respond within {} s", .0.as_secs())]
struct Unresponsive(Duration);

impl Dispatcher {
    /// Waits for a store call. After `limit` the call is dropped and fails with an unknown result.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.before(limit, call)
            .await
            .unwrap_or_else(|| Err(StoreError::unavailable(Unresponsive(limit))))
    }

    /// Waits for a port; `None` after `limit`.
    pub(super) async fn before<T>(&self, limit: Duration, call: impl Future<Output = T>) -> Option<T> {
        match select(pin!(call), self.timer.sleep(limit)).await {
            Either::Left((result, _)) => Some(result),
            Either::Right(_) => None,
        }
    }
}
