//! Pending sign-ins (O24), in `oauth_interaction`, and pushed requests (O23), in
//! `oauth_pushed_request`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{Insertion, InteractionRecord, InteractionStore, PushedRequestRecord, TakeOutcome};
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::insertion;
use crate::column::Time;
use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};
use crate::purge;

#[async_trait]
impl InteractionStore for Database {
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError> {
        let interaction = Document::new(interaction)?;
        let insert = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO oauth_interaction (id, expires_at, record) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO NOTHING",
            )?;
            let record = &interaction.record;
            let values = (record.id.as_bytes(), Time(record.expires_at), &interaction.text);
            Ok(insertion(statement.execute(values)?))
        });
        Ok(insert.await?)
    }

    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError> {
        let id = *id;
        Ok(self.read(move |connection| load(connection, &id)).await?)
    }

    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError> {
        let (id, browser) = (*id, *browser);
        Ok(self
            .write(move |transaction| take(transaction, &id, &browser, now))
            .await?)
    }

    async fn insert_pushed(&self, pushed: PushedRequestRecord) -> Result<Insertion, StoreError> {
        let pushed = Document::new(pushed)?;
        let insert = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO oauth_pushed_request (hash, retain_until, completed, record) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (hash) DO NOTHING",
            )?;
            let record = &pushed.record;
            let (hash, retain_until) = (record.hash.as_bytes(), Time(record.retain_until));
            Ok(insertion(statement.execute((
                hash,
                retain_until,
                record.completed,
                &pushed.text,
            ))?))
        });
        Ok(insert.await?)
    }

    async fn pushed(&self, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, StoreError> {
        let hash = *hash;
        Ok(self
            .read(move |connection| load_pushed(connection, &hash))
            .await?)
    }

    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_INTERACTIONS, now).await?)
    }
}

fn load(connection: &Connection, id: &TokenHash) -> Result<Option<InteractionRecord>, DatabaseError> {
    let mut statement = connection.prepare_cached("SELECT record FROM oauth_interaction WHERE id = ?1")?;
    let record = statement
        .query_row([id.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(record.map(|Json(interaction)| interaction))
}

fn load_pushed(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<PushedRequestRecord>, DatabaseError> {
    let mut statement =
        connection.prepare_cached("SELECT record, completed FROM oauth_pushed_request WHERE hash = ?1")?;
    let pushed = statement.query_row([hash.as_bytes()], |row| {
        let Json(mut pushed): Json<PushedRequestRecord> = row.get(0)?;
        pushed.completed = row.get(1)?;
        Ok(pushed)
    });
    Ok(pushed.optional()?)
}

/// Marks the pushed request as used; false if it was used before or does not exist.
fn complete(transaction: &Transaction<'_>, hash: &TokenHash) -> Result<bool, DatabaseError> {
    let mut statement = transaction
        .prepare_cached("UPDATE oauth_pushed_request SET completed = 1 WHERE hash = ?1 AND NOT completed")?;
    Ok(statement.execute([hash.as_bytes()])? == 1)
}

fn take(
    transaction: &Transaction<'_>,
    id: &TokenHash,
    browser: &TokenHash,
    now: SystemTime,
) -> Result<TakeOutcome, DatabaseError> {
    let found = load(transaction, id)?;
    let pushed = match TakeOutcome::decide(found.as_ref(), browser, now) {
        Ok(pushed) => pushed,
        Err(refused) => return Ok(refused),
    };
    if let Some(pushed) = &pushed
        && !complete(transaction, pushed)?
    {
        return Ok(TakeOutcome::RequestSpent);
    }
    transaction
        .prepare_cached("DELETE FROM oauth_interaction WHERE id = ?1")?
        .execute([id.as_bytes()])?;
    Ok(found.map_or(TakeOutcome::NotFound, |interaction| {
        TakeOutcome::Taken(Box::new(interaction))
    }))
}
