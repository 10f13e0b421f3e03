use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::ports::{Clock, Entropy, Transport};

/// What a client needs of its host to ask a server by itself: a way to it, randomness and the time.
///
/// Cheap to clone: built once, beside the [`Client`](super::Client).
#[derive(Clone)]
pub struct Ports {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Ports {
    /// These three; `OsEntropy` and `SystemTime::now` are the usual second and third.
    pub fn new(
        transport: impl Transport + 'static,
        entropy: impl Entropy + 'static,
        clock: impl Clock + 'static,
    ) -> Self {
        Self {
            transport: Arc::new(transport),
            entropy: Arc::new(entropy),
            clock: Arc::new(clock),
        }
    }

    /// The way to servers.
    #[must_use]
    pub fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// The randomness.
    #[must_use]
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// The randomness, for who keeps it.
    pub(crate) fn shared_entropy(&self) -> Arc<dyn Entropy> {
        Arc::clone(&self.entropy)
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}
