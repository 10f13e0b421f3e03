//! Consents of users to clients (O35), in `oauth_consent`.

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{ConsentRecord, ConsentStore};
use oauth_core::vocabulary::{ClientId, Subject};
use rusqlite::{Connection, OptionalExtension};

use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

#[async_trait]
impl ConsentStore for Database {
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError> {
        let add = self.write(move |transaction| -> Result<_, DatabaseError> {
            let merged = match load(transaction, &consent.subject, &consent.client_id)? {
                Some(earlier) => earlier.merge(consent),
                None => consent,
            };
            let merged = Document::new(merged)?;
            let mut statement = transaction.prepare_cached(
                "INSERT INTO oauth_consent (subject, client_id, record) VALUES (?1, ?2, ?3)
                 ON CONFLICT (subject, client_id) DO UPDATE SET record = excluded.record",
            )?;
            let key = (merged.record.subject.as_str(), merged.record.client_id.as_str());
            statement.execute((key.0, key.1, &merged.text))?;
            Ok(())
        });
        Ok(add.await?)
    }

    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError> {
        let (subject, client_id) = (subject.clone(), client_id.clone());
        let consent = self.read(move |connection| load(connection, &subject, &client_id));
        Ok(consent.await?)
    }

    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError> {
        let subject = subject.clone();
        let consents = self.read(move |connection| -> Result<_, DatabaseError> {
            let mut statement = connection
                .prepare_cached("SELECT record FROM oauth_consent WHERE subject = ?1 ORDER BY client_id")?;
            let records = statement.query_map([subject.as_str()], |row| row.get(0))?;
            let records = records.map(|record| record.map(|Json(consent)| consent));
            Ok(records.collect::<Result<Vec<_>, _>>()?)
        });
        Ok(consents.await?)
    }

    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError> {
        let (subject, client_id) = (subject.clone(), client_id.clone());
        let removed = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement = transaction
                .prepare_cached("DELETE FROM oauth_consent WHERE subject = ?1 AND client_id = ?2")?;
            Ok(statement.execute([subject.as_str(), client_id.as_str()])?)
        });
        Ok(removed.await? > 0)
    }
}

fn load(
    connection: &Connection,
    subject: &Subject,
    client_id: &ClientId,
) -> Result<Option<ConsentRecord>, DatabaseError> {
    let mut statement = connection
        .prepare_cached("SELECT record FROM oauth_consent WHERE subject = ?1 AND client_id = ?2")?;
    let record = statement.query_row([subject.as_str(), client_id.as_str()], |row| row.get(0));
    Ok(record.optional()?.map(|Json(consent)| consent))
}
