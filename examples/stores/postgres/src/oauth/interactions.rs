//! Pending sign-ins (O24), in `oauth_interaction`, and pushed requests (O23), in
//! `oauth_pushed_request`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{Insertion, InteractionRecord, InteractionStore, PushedRequestRecord, TakeOutcome};
use sqlx::{PgConnection, PgPool};

use super::insertion;
use crate::column::nanoseconds;
use crate::database::{Database, DatabaseError, begin};
use crate::json::{self, Document};
use crate::purge;

#[async_trait]
impl InteractionStore for Database {
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError> {
        let interaction = Document::new(interaction)?;
        let inserted = self.run(|pool| async move { insert(&pool, &interaction).await });
        Ok(inserted.await?)
    }

    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError> {
        let id = *id;
        let interaction = self.run(move |pool| async move { load(&pool, &id).await });
        Ok(interaction.await?)
    }

    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError> {
        let (id, browser) = (*id, *browser);
        let taken = self.run(move |pool| async move { take(&pool, &id, &browser, now).await });
        Ok(taken.await?)
    }

    async fn insert_pushed(&self, pushed: PushedRequestRecord) -> Result<Insertion, StoreError> {
        let pushed = Document::new(pushed)?;
        let inserted = self.run(|pool| async move { insert_pushed(&pool, &pushed).await });
        Ok(inserted.await?)
    }

    async fn pushed(&self, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, StoreError> {
        let hash = *hash;
        let pushed = self.run(move |pool| async move { load_pushed(&pool, &hash).await });
        Ok(pushed.await?)
    }

    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_INTERACTIONS, now).await?)
    }
}

async fn insert(
    pool: &PgPool,
    interaction: &Document<InteractionRecord>,
) -> Result<Insertion, DatabaseError> {
    let record = &interaction.record;
    let inserted = sqlx::query(
        "INSERT INTO oauth_interaction (id, expires_at, record) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
    )
    .bind(record.id.as_bytes())
    .bind(nanoseconds(record.expires_at))
    .bind(&interaction.text)
    .execute(pool)
    .await?;
    Ok(insertion(&inserted))
}

async fn load(pool: &PgPool, id: &TokenHash) -> Result<Option<InteractionRecord>, DatabaseError> {
    let found: Option<String> = sqlx::query_scalar("SELECT record FROM oauth_interaction WHERE id = $1")
        .bind(id.as_bytes())
        .fetch_optional(pool)
        .await?;
    found.map(|text| json::record(&text)).transpose()
}

async fn insert_pushed(
    pool: &PgPool,
    pushed: &Document<PushedRequestRecord>,
) -> Result<Insertion, DatabaseError> {
    let record = &pushed.record;
    let inserted = sqlx::query(
        "INSERT INTO oauth_pushed_request (hash, retain_until, completed, record) VALUES ($1, $2, $3, $4)
         ON CONFLICT (hash) DO NOTHING",
    )
    .bind(record.hash.as_bytes())
    .bind(nanoseconds(record.retain_until))
    .bind(record.completed)
    .bind(&pushed.text)
    .execute(pool)
    .await?;
    Ok(insertion(&inserted))
}

async fn load_pushed(pool: &PgPool, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, DatabaseError> {
    let found: Option<(String, bool)> =
        sqlx::query_as("SELECT record, completed FROM oauth_pushed_request WHERE hash = $1")
            .bind(hash.as_bytes())
            .fetch_optional(pool)
            .await?;
    let pushed = found.map(|(text, completed)| -> Result<_, DatabaseError> {
        let mut pushed: PushedRequestRecord = json::record(&text)?;
        pushed.completed = completed;
        Ok(pushed)
    });
    pushed.transpose()
}

/// Marks the pushed request as used; false if it was used before or does not exist.
async fn complete(connection: &mut PgConnection, hash: &TokenHash) -> Result<bool, DatabaseError> {
    let completed =
        sqlx::query("UPDATE oauth_pushed_request SET completed = TRUE WHERE hash = $1 AND NOT completed")
            .bind(hash.as_bytes())
            .execute(connection)
            .await?;
    Ok(completed.rows_affected() == 1)
}

async fn take(
    pool: &PgPool,
    id: &TokenHash,
    browser: &TokenHash,
    now: SystemTime,
) -> Result<TakeOutcome, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let found: Option<String> =
        sqlx::query_scalar("SELECT record FROM oauth_interaction WHERE id = $1 FOR UPDATE")
            .bind(id.as_bytes())
            .fetch_optional(&mut *transaction)
            .await?;
    let interaction: Option<InteractionRecord> = found.map(|text| json::record(&text)).transpose()?;
    let pushed = match TakeOutcome::decide(interaction.as_ref(), browser, now) {
        Ok(pushed) => pushed,
        Err(refused) => return Ok(refused),
    };
    if let Some(pushed) = &pushed
        && !complete(&mut transaction, pushed).await?
    {
        return Ok(TakeOutcome::RequestSpent);
    }
    sqlx::query("DELETE FROM oauth_interaction WHERE id = $1")
        .bind(id.as_bytes())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(interaction.map_or(TakeOutcome::NotFound, |interaction| {
        TakeOutcome::Taken(Box::new(interaction))
    }))
}
