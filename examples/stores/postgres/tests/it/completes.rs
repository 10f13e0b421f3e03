//! Keys that are completed in a transaction of the host (H23).

use std::sync::Arc;

use async_trait::async_trait;
use host_store_postgres::{Database, DatabaseError, idempotency, sqlx};
use http_conventions::idempotency::{Fenced, IdempotencyStore, Receipt, Settlement};
use http_conventions::ports::StoreError;
use http_conventions_conformance::completes_in_transaction::{End, TransactionalStore};

use crate::support::with_notes;

pub(crate) struct Notes(pub(crate) Database);

impl Notes {
    pub(crate) async fn write_row(
        &self,
        row: i64,
        settlement: Option<&Settlement>,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, DatabaseError> {
        let mut transaction = self.0.pool().begin().await?;
        let insert = sqlx::query("INSERT INTO note (id) VALUES ($1)").bind(row);
        insert.execute(&mut *transaction).await?;
        let receipt = match settlement {
            Some(settlement) => match idempotency::complete_in(&mut transaction, settlement).await? {
                Ok(receipt) => Some(receipt),
                Err(fenced) => return Ok(Err(fenced)),
            },
            None => None,
        };
        match end {
            End::Commit => transaction.commit().await?,
            End::RollBack => return Ok(Ok(None)),
        }
        Ok(Ok(receipt))
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
        Ok(self.write_row(i64::from(row), settlement, end).await?)
    }

    async fn rows(&self) -> Result<Vec<u32>, StoreError> {
        let rows: Vec<i64> = sqlx::query_scalar("SELECT id FROM note ORDER BY id")
            .fetch_all(self.0.pool())
            .await
            .unwrap();
        Ok(rows.into_iter().map(|row| u32::try_from(row).unwrap()).collect())
    }
}

http_conventions_conformance::completes_in_transaction!(
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    Notes(with_notes(crate::server::fresh!()).await)
);
