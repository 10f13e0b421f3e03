//! Webhook endpoints, changed with the idempotency keys of their requests.

use http_conventions::idempotency::{Receipt, Settlement};
use webhook_core::sender::{Endpoint, EndpointId, Inserted, Rotated, Rotation};

use super::{Desk, DeskError};

impl Desk {
    /// Registers an endpoint and completes the idempotency key `key`, in one transaction. Unless
    /// the result is [`Inserted::Inserted`], nothing was written.
    ///
    /// # Errors
    ///
    /// As [`insert_charge`](Self::insert_charge), without `Faulty`.
    pub async fn register_endpoint(
        &self,
        endpoint: Endpoint,
        key: Option<Settlement>,
    ) -> Result<(Inserted, Option<Receipt>), DeskError> {
        self.store.register_endpoint(endpoint, key).await
    }

    /// Rotates the secret of an endpoint and completes the idempotency key `key`, in one
    /// transaction. Unless the result is [`Rotated::Rotated`], nothing was written.
    ///
    /// # Errors
    ///
    /// As [`insert_charge`](Self::insert_charge), without `Faulty`.
    pub async fn rotate_secret(
        &self,
        id: EndpointId,
        rotation: Rotation,
        key: Option<Settlement>,
    ) -> Result<(Rotated, Option<Receipt>), DeskError> {
        self.store.rotate_secret(id, rotation, key).await
    }
}
