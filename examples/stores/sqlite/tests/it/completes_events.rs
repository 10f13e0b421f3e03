//! Events that are acknowledged in a transaction of the host (H23).

use std::sync::Arc;

use async_trait::async_trait;
use host_store_sqlite::{Database, DatabaseError, inbox};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Fenced, Inbox, Receipt, Ticket};
use webhook_core_conformance::inbox_in_transaction::{End, TransactionalInbox};

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
        let ticket = ticket.clone();
        let written = self.0.write(move |transaction| -> Result<_, Undone> {
            let insert = transaction.execute("INSERT INTO note (id) VALUES (?1)", [row]);
            insert.map_err(DatabaseError::from)?;
            let receipt = inbox::complete_in(transaction, &ticket)??;
            match end {
                End::Commit => Ok(receipt),
                End::RollBack => Err(Undone::Asked),
            }
        });
        match written.await {
            Ok(receipt) => Ok(Ok(Some(receipt))),
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
    webhook_core_conformance::inbox_in_transaction!(
        #[tokio::test]
        async {
            super::Notes(super::with_notes(super::Database::open_in_memory().unwrap()).await)
        }
    );
}

mod file {
    webhook_core_conformance::inbox_in_transaction!(
        #[tokio::test]
        async {
            super::Notes(super::with_notes(crate::support::on_disk()).await)
        }
    );
}
