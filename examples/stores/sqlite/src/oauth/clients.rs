//! Registered clients (O25), in `oauth_client`.

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{ClientStore, RegisteredClient};
use oauth_core::vocabulary::ClientId;
use rusqlite::OptionalExtension;

use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

#[async_trait]
impl ClientStore for Database {
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        let id = id.clone();
        let client = self.read(move |connection| -> Result<_, DatabaseError> {
            let mut statement = connection.prepare_cached("SELECT record FROM oauth_client WHERE id = ?1")?;
            Ok(statement.query_row([id.as_str()], |row| row.get(0)).optional()?)
        });
        Ok(client.await?.map(|Json(client)| client))
    }

    async fn put_client(&self, client: RegisteredClient) -> Result<(), StoreError> {
        let client = Document::new(client)?;
        let put = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO oauth_client (id, record) VALUES (?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            )?;
            statement.execute((client.record.id.as_str(), client.text))?;
            Ok(())
        });
        Ok(put.await?)
    }
}
