//! Loss of updates, of which a subscriber learns by the end of its connection.

use std::sync::Arc;

use tokio::sync::Notify;

/// Signal that a subscription on a connection may have missed updates. Clones are the same signal.
#[derive(Clone, Default)]
pub(super) struct Loss(Arc<Notify>);

impl Loss {
    pub(super) fn report(&self) {
        self.0.notify_one();
    }

    /// Waits for the report. One task may wait.
    pub(super) async fn reported(&self) {
        self.0.notified().await;
    }
}
