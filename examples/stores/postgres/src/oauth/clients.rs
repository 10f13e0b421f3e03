//! Registered clients (O25), in `oauth_client`.

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{ClientStore, RegisteredClient};
use oauth_core::vocabulary::ClientId;
use sqlx::PgPool;

use crate::database::{Database, DatabaseError};
use crate::json::{self, Document};

#[async_trait]
impl ClientStore for Database {
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        let id = id.clone();
        let client = self.run(|pool| async move { load(&pool, &id).await });
        Ok(client.await?)
    }

    async fn put_client(&self, client: RegisteredClient) -> Result<(), StoreError> {
        let client = Document::new(client)?;
        let put = self.run(|pool| async move { put(&pool, &client).await });
        Ok(put.await?)
    }
}

async fn load(pool: &PgPool, id: &ClientId) -> Result<Option<RegisteredClient>, DatabaseError> {
    let found: Option<String> = sqlx::query_scalar("SELECT record FROM oauth_client WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(pool)
        .await?;
    found.map(|text| json::record(&text)).transpose()
}

async fn put(pool: &PgPool, client: &Document<RegisteredClient>) -> Result<(), DatabaseError> {
    sqlx::query(
        "INSERT INTO oauth_client (id, record) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET record = excluded.record",
    )
    .bind(client.record.id.as_str())
    .bind(&client.text)
    .execute(pool)
    .await?;
    Ok(())
}
