//! Events that are acknowledged in a transaction of the host (H23).

use std::sync::Arc;

use async_trait::async_trait;
use host_store_postgres::{Database, DatabaseError, inbox, sqlx};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Fenced, Inbox, Receipt, Ticket};
use webhook_core_conformance::inbox_in_transaction::{End, TransactionalInbox};

use crate::support::with_notes;

struct Notes(Database);

impl Notes {
    async fn write_row(
        &self,
        row: u32,
        ticket: &Ticket,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, DatabaseError> {
        let mut transaction = self.0.pool().begin().await?;
        let insert = sqlx::query("INSERT INTO note (id) VALUES ($1)").bind(i64::from(row));
        insert.execute(&mut *transaction).await?;
        let receipt = match inbox::complete_in(&mut transaction, ticket).await? {
            Ok(receipt) => receipt,
            Err(fenced) => return Ok(Err(fenced)),
        };
        match end {
            End::Commit => transaction.commit().await?,
            End::RollBack => return Ok(Ok(None)),
        }
        Ok(Ok(Some(receipt)))
    }
}

#[async_trait]
impl TransactionalInbox for Notes {
    fn inbox(&self) -> Arc<dyn Inbox> {
        Arc::new(self.0.clone())
    }

    async fn write(
        &self,
        row: u32,
        ticket: &Ticket,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, StoreError> {
        Ok(self.write_row(row, ticket, end).await?)
    }

    async fn rows(&self) -> Result<Vec<u32>, StoreError> {
        let rows: Vec<i64> = sqlx::query_scalar("SELECT id FROM note ORDER BY id")
            .fetch_all(self.0.pool())
            .await
            .unwrap();
        Ok(rows.into_iter().map(|row| u32::try_from(row).unwrap()).collect())
    }
}

webhook_core_conformance::inbox_in_transaction!(
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    Notes(with_notes(crate::server::fresh!()).await)
);
