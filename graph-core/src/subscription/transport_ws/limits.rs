//! What one connection may ask for.

use std::time::Duration;

/// The bounds of one connection.
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
    /// 256 KiB a message, 100 operations, 16 frames, 10 s until the acknowledgement, a ping after 25 s, 20 s of patience.
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
    /// How many bytes a message of the client may have.
    #[must_use]
    pub fn with_message(mut self, bytes: usize) -> Self {
        self.message = bytes;
        self
    }

    /// How many operations may run at once; one more is answered with `RATE_LIMITED`.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// How many frames may wait for the peer to take them; at least one does.
    #[must_use]
    pub fn with_queue(mut self, frames: usize) -> Self {
        self.queue = frames.max(1);
        self
    }

    /// How long a new connection may take until it is acknowledged.
    #[must_use]
    pub fn with_init_timeout(mut self, timeout: Duration) -> Self {
        self.init = timeout;
        self
    }

    /// How long the peer may say nothing before it is sent a ping.
    #[must_use]
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// How long the peer may take to answer a ping, and to take the next frame that waits for it.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The limit of a message, for the WebSocket library of the host.
    #[must_use]
    pub fn message(&self) -> usize {
        self.message
    }
}
