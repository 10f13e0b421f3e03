use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;

use super::lock;
use crate::ports::StoreError;
use crate::store::{ClientStore, RegisteredClient};
use crate::vocabulary::ClientId;

/// Store of registered clients in memory.
#[derive(Debug, Default)]
pub struct MemoryClients {
    clients: Mutex<HashMap<ClientId, RegisteredClient>>,
}

impl MemoryClients {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes a client and returns `true` if it was registered. The introspection endpoint then
    /// reports the tokens of this client as inactive.
    pub fn remove(&self, id: &ClientId) -> bool {
        lock(&self.clients).remove(id).is_some()
    }
}

impl FromIterator<RegisteredClient> for MemoryClients {
    fn from_iter<I: IntoIterator<Item = RegisteredClient>>(clients: I) -> Self {
        let clients = clients
            .into_iter()
            .map(|client| (client.id.clone(), client))
            .collect();
        Self {
            clients: Mutex::new(clients),
        }
    }
}

#[async_trait]
impl ClientStore for MemoryClients {
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        Ok(lock(&self.clients).get(id).cloned())
    }

    async fn put_client(&self, client: RegisteredClient) -> Result<(), StoreError> {
        lock(&self.clients).insert(client.id.clone(), client);
        Ok(())
    }
}
