//! Secrets that survive a restart: the keys of cursors and DPoP nonces.

use super::{Desk, DeskError};

impl Desk {
    /// Reads the secret with this name; the first call stores `fresh`. All processes on one
    /// database get the same value.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn host_secret(&self, name: &'static str, fresh: Vec<u8>) -> Result<Vec<u8>, DeskError> {
        self.store.host_secret(name, fresh).await
    }
}
