//! Consents of users to clients (O35), in `oauth_consent`.

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{ConsentRecord, ConsentStore};
use oauth_core::vocabulary::{ClientId, Subject};
use sqlx::{PgExecutor, PgPool};

use super::subject;
use crate::database::{Database, DatabaseError};
use crate::json::{self, Document};

#[async_trait]
impl ConsentStore for Database {
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError> {
        let add = self.run(|pool| async move { add(&pool, consent).await });
        Ok(add.await?)
    }

    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError> {
        let (subject, client_id) = (subject.clone(), client_id.clone());
        let consent = self.run(|pool| async move { load(&pool, &subject, &client_id).await });
        Ok(consent.await?)
    }

    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError> {
        let subject = subject.clone();
        let consents = self.run(|pool| async move { load_all(&pool, &subject).await });
        Ok(consents.await?)
    }

    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError> {
        let (subject, client_id) = (subject.clone(), client_id.clone());
        let removed = self.run(|pool| async move { remove(&pool, &subject, &client_id).await });
        Ok(removed.await?)
    }
}

/// Merges the consent into the earlier one, under the lock of its subject.
async fn add(pool: &PgPool, consent: ConsentRecord) -> Result<(), DatabaseError> {
    let mut transaction = subject::begin_alone(pool, &consent.subject).await?;
    let merged = match load(&mut *transaction, &consent.subject, &consent.client_id).await? {
        Some(earlier) => earlier.merge(consent),
        None => consent,
    };
    let merged = Document::new(merged)?;
    sqlx::query(
        "INSERT INTO oauth_consent (subject, client_id, record) VALUES ($1, $2, $3)
         ON CONFLICT (subject, client_id) DO UPDATE SET record = excluded.record",
    )
    .bind(merged.record.subject.as_str())
    .bind(merged.record.client_id.as_str())
    .bind(&merged.text)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(())
}

async fn load(
    executor: impl PgExecutor<'_>,
    subject: &Subject,
    client_id: &ClientId,
) -> Result<Option<ConsentRecord>, DatabaseError> {
    let record: Option<String> =
        sqlx::query_scalar("SELECT record FROM oauth_consent WHERE subject = $1 AND client_id = $2")
            .bind(subject.as_str())
            .bind(client_id.as_str())
            .fetch_optional(executor)
            .await?;
    record.map(|text| json::record(&text)).transpose()
}

async fn load_all(pool: &PgPool, subject: &Subject) -> Result<Vec<ConsentRecord>, DatabaseError> {
    let records: Vec<String> =
        sqlx::query_scalar("SELECT record FROM oauth_consent WHERE subject = $1 ORDER BY client_id")
            .bind(subject.as_str())
            .fetch_all(pool)
            .await?;
    records.iter().map(|text| json::record(text)).collect()
}

/// Removes the consent, under the lock of its subject: an addition that has read the consent writes
/// it before.
async fn remove(pool: &PgPool, subject: &Subject, client_id: &ClientId) -> Result<bool, DatabaseError> {
    let mut transaction = subject::begin_alone(pool, subject).await?;
    let removed = sqlx::query("DELETE FROM oauth_consent WHERE subject = $1 AND client_id = $2")
        .bind(subject.as_str())
        .bind(client_id.as_str())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(removed.rows_affected() > 0)
}
