//! Limits of one connection.

use std::time::Duration;

/// Limits of one connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConnectionLimits {
    pub(super) message: usize,
    pub(super) operations: usize,
    pub(super) queue: usize,
    pub(super) init: Duration,
    pub(super) silence: Duration,
    pub(super) patience: Duration,
}

impl Default for ConnectionLimits {
    /// Defaults: 256 KiB per message, 100 operations, 16 unsent frames, 10 s to initialize, a ping
    /// after 25 s of silence, 20 s of patience.
    fn default() -> Self {
        Self {
            message: 256 << 10,
            operations: 100,
            queue: 16,
            init: Duration::from_secs(10),
            silence: Duration::from_secs(25),
            patience: Duration::from_secs(20),
        }
    }
}

impl ConnectionLimits {
    /// Limits the size of a client message in bytes. Default: 256 KiB.
    #[must_use]
    pub fn with_message(mut self, bytes: usize) -> Self {
        self.message = bytes;
        self
    }

    /// Limits the concurrent operations. Default: 100. A further operation gets `RATE_LIMITED`.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// Limits the unsent frames. Default: 16; minimum: 1.
    #[must_use]
    pub fn with_queue(mut self, frames: usize) -> Self {
        self.queue = frames.max(1);
        self
    }

    /// Sets the time within which the host must accept the credentials, from the handshake on.
    /// Default: 10 s.
    #[must_use]
    pub fn with_init_timeout(mut self, timeout: Duration) -> Self {
        self.init = timeout;
        self
    }

    /// Sets the silence of the peer after which a ping is sent. Default: 25 s.
    #[must_use]
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets the time for the peer to answer a ping, and for the transport to accept the oldest
    /// unsent frame. Default: 20 s.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the maximum message size in bytes, for the host's WebSocket library.
    #[must_use]
    pub fn message(&self) -> usize {
        self.message
    }
}
