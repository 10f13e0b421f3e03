//! Count of the open connections of servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Count of the open connections of the servers that share it. Clones share the count.
///
/// ```
/// use host_server::{Limits, OpenConnections};
///
/// let open = OpenConnections::default();
/// let limits = Limits {
///     open: open.clone(),
///     ..Limits::default()
/// };
/// // a server with these limits counts; a page of metrics reads
/// assert_eq!(open.count(), 0);
/// # drop(limits);
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenConnections(Arc<AtomicUsize>);

impl OpenConnections {
    /// Number of the connections that are accepted and not closed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one more connection until the value is dropped.
    pub(crate) fn enter(&self) -> OpenConnection {
        self.0.fetch_add(1, Ordering::Relaxed);
        OpenConnection(self.clone())
    }
}

/// One counted connection.
#[derive(Debug)]
pub(crate) struct OpenConnection(OpenConnections);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
