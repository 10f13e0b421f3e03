use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::ports::{Clock, Entropy, Transport};

/// Ports of a client that sends its own requests: transport, randomness and clock.
///
/// It is cheap to clone. The host builds it once, together with the [`Client`](super::Client).
#[derive(Clone)]
pub struct Ports {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Ports {
    /// Combines the three ports, usually with `OsEntropy` and `SystemClock`.
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

    /// Returns the transport.
    #[must_use]
    pub fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// Returns the source of randomness.
    #[must_use]
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// Returns the source of randomness as a shared pointer.
    pub(crate) fn shared_entropy(&self) -> Arc<dyn Entropy> {
        Arc::clone(&self.entropy)
    }

    /// Returns the current instant.
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
