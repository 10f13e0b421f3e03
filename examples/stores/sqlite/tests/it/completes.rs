//! Keys that are completed in a transaction of the host (H23).

use std::sync::Arc;

use async_trait::async_trait;
use host_store_sqlite::{Database, DatabaseError, idempotency};
use http_conventions::idempotency::{Fenced, IdempotencyStore, Receipt, Settlement};
use http_conventions::ports::StoreError;
use http_conventions_conformance::completes_in_transaction::{End, TransactionalStore};

use crate::support::{notes, with_notes};

struct Notes(Database);

/// Reason to roll back.
enum Undone {
    Fenced,
    Asked,
    Failed(DatabaseError),
}

impl From<DatabaseError> for Undone {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error)
    }
}

impl From<Fenced> for Undone {
    fn from(_: Fenced) -> Self {
        Self::Fenced
    }
}

#[async_trait]
impl TransactionalStore for Notes {
    fn keys(&self) -> Arc<dyn IdempotencyStore> {
        Arc::new(self.0.clone())
    }

    async fn write(
        &self,
        row: u32,
        settlement: Option<&Settlement>,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, StoreError> {
        let settlement = settlement.cloned();
        let written = self.0.write(move |transaction| -> Result<_, Undone> {
            let insert = transaction.execute("INSERT INTO note (id) VALUES (?1)", [row]);
            insert.map_err(DatabaseError::from)?;
            let receipt = match &settlement {
                Some(settlement) => Some(idempotency::complete_in(transaction, settlement)??),
                None => None,
            };
            match end {
                End::Commit => Ok(receipt),
                End::RollBack => Err(Undone::Asked),
            }
        });
        match written.await {
            Ok(receipt) => Ok(Ok(receipt)),
            Err(Undone::Asked) => Ok(Ok(None)),
            Err(Undone::Fenced) => Ok(Err(Fenced)),
            Err(Undone::Failed(error)) => Err(error.into()),
        }
    }

    async fn rows(&self) -> Result<Vec<u32>, StoreError> {
        let rows = notes(&self.0).await.into_iter();
        Ok(rows.map(|row| u32::try_from(row).unwrap()).collect())
    }
}

mod memory {
    http_conventions_conformance::completes_in_transaction!(
        #[tokio::test]
        async {
            super::Notes(super::with_notes(super::Database::open_in_memory().unwrap()).await)
        }
    );
}

mod file {
    http_conventions_conformance::completes_in_transaction!(
        #[tokio::test]
        async {
            super::Notes(super::with_notes(crate::support::on_disk()).await)
        }
    );
}
