//! The kind of service that a database belongs to: with the demo or without it.

use super::{Desk, DeskError};

impl Desk {
    /// Returns `true` if the database belongs to services with the demo; `None` if no service has
    /// claimed it.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn has_demo(&self) -> Result<Option<bool>, DeskError> {
        self.store.has_demo().await
    }

    /// Claims the database for services with the demo, or for those without it. The first call
    /// decides; returns `true` if it belongs to services with the demo.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn claim(&self, has_demo: bool) -> Result<bool, DeskError> {
        self.store.claim(has_demo).await
    }
}
