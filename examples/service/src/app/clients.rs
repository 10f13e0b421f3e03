//! Registered clients: those of the configuration, and with the demo those of the database.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use oauth_core::RegisteredClient;
use oauth_core::ports::StoreError;
use oauth_core::store::ClientStore;
use oauth_core::vocabulary::ClientId;
use thiserror::Error;

/// A client was to be stored beside those of the configuration.
#[derive(Debug, Error)]
#[error("the configuration alone registers clients")]
struct NotStored;

/// Clients of the configuration. A client that a later start leaves out is unknown from then on.
/// Without the demo its tokens are refused too; with it, a JWT is valid until it expires.
pub(super) struct Clients {
    configured: HashMap<ClientId, RegisteredClient>,
    /// Clients of the database, which include the demo's.
    stored: Option<Arc<dyn ClientStore>>,
}

impl Clients {
    pub(super) fn new(
        configured: impl IntoIterator<Item = RegisteredClient>,
        stored: Option<Arc<dyn ClientStore>>,
    ) -> Self {
        let configured = configured.into_iter().map(|client| (client.id.clone(), client));
        Self {
            configured: configured.collect(),
            stored,
        }
    }
}

#[async_trait]
impl ClientStore for Clients {
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        match (self.configured.get(id), &self.stored) {
            (Some(client), _) => Ok(Some(client.clone())),
            (None, Some(stored)) => stored.client(id).await,
            (None, None) => Ok(None),
        }
    }

    async fn put_client(&self, client: RegisteredClient) -> Result<(), StoreError> {
        match &self.stored {
            Some(stored) => stored.put_client(client).await,
            None => Err(StoreError::unavailable(NotStored)),
        }
    }
}
