//! Limits of one WebSocket connection.

use std::time::Duration;

/// Limits of one WebSocket connection.
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
    /// after 25 s without a message, 20 s to answer the ping or to accept a frame.
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
    /// Limits the size of a client message in bytes. Default: 256 KiB. A longer message closes the
    /// connection with 1009.
    #[must_use]
    pub fn with_message(mut self, bytes: usize) -> Self {
        self.message = bytes;
        self
    }

    /// Limits the concurrent operations. Default: 100. An operation above the limit gets the error
    /// `RATE_LIMITED`.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// Limits the number of frames that the transport has not accepted yet. Default: 16. Zero
    /// counts as 1.
    ///
    /// At the limit, [`Connection::has_room`](super::Connection::has_room) is `false`.
    #[must_use]
    pub fn with_queue(mut self, frames: usize) -> Self {
        self.queue = frames.max(1);
        self
    }

    /// Sets the time from the handshake until the host has accepted the credentials. Default: 10 s.
    ///
    /// The connection closes with 4408 if the time is exceeded.
    #[must_use]
    pub fn with_init_timeout(mut self, timeout: Duration) -> Self {
        self.init = timeout;
        self
    }

    /// Sets the time without a client message after which a ping is sent. Default: 25 s.
    #[must_use]
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets the time for the client to answer a ping, and for the transport to accept the oldest
    /// unsent frame. Default: 20 s. The connection closes with 1013 if the time is exceeded.
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
