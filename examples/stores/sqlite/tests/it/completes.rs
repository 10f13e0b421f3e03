//! Keys that are completed in a transaction of the host (H23).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::future::join_all;
use host_store_sqlite::{Database, DatabaseError, idempotency};
use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, Fenced, Fingerprint, IdempotencyStore, Receipt, RecordKey, Settlement,
};
use http_conventions::ports::StoreError;
use http_conventions_conformance::completes_in_transaction::{End, TransactionalStore};

use crate::support::{File, Held, note, notes, queue, with_notes};

pub(crate) struct Notes(pub(crate) Database);

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

impl Notes {
    pub(crate) async fn write_row(
        &self,
        row: i64,
        settlement: Option<&Settlement>,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, DatabaseError> {
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
            Err(Undone::Failed(error)) => Err(error),
        }
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

/// A claim that a crash of the store may lose.
fn claim(key: u8) -> Claim {
    let lease_until = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
    let (key, request) = (RecordKey::from_bytes([key; 32]), Fingerprint::from_bytes([2; 32]));
    let claim = Claim::new(key, request, Fence::from_bytes([3; 16]), lease_until, lease_until);
    claim.without_durability()
}

/// Setting of the writer, read in a write.
async fn synchronous(database: &Database) -> i64 {
    let read = database.write(|transaction| -> Result<i64, DatabaseError> {
        Ok(transaction.query_row("PRAGMA synchronous", (), |row| row.get(0))?)
    });
    read.await.unwrap()
}

/// H23: such a claim does not wait for the disk. Every other write does, also after it.
#[tokio::test]
async fn only_claim_without_durability_is_not_synced() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let (all, durable) = (database.commits(), database.durable_commits());
    let claimed = database.claim(&claim(1), SystemTime::UNIX_EPOCH).await;
    assert_eq!(claimed.unwrap(), ClaimOutcome::Claimed);
    assert_eq!(
        (database.commits() - all, database.durable_commits() - durable),
        (1, 0)
    );
    assert_eq!(synchronous(&database).await, 2, "FULL");
    assert_eq!(
        (database.commits() - all, database.durable_commits() - durable),
        (2, 1)
    );
    let mut lasting = claim(2);
    lasting.is_durable = true;
    database.claim(&lasting, SystemTime::UNIX_EPOCH).await.unwrap();
    assert_eq!(
        (database.commits() - all, database.durable_commits() - durable),
        (3, 2)
    );
}

/// H23, X4: a batch of claims ends before the first write that must reach the disk. That write
/// begins the next batch, which the claims behind it join. Each is answered, in its order.
#[tokio::test]
async fn claims_wait_for_no_disk_and_lose_no_write() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let held = Held::writer_of(&database).await;
    // ends the batch of the held write: it holds a thousand or so
    let filling: Vec<_> = (0..1_023).map(|id| queue(note(&database, id))).collect();
    let now = SystemTime::UNIX_EPOCH;
    let keys: Vec<_> = (0..4).map(claim).collect();
    let first: Vec<_> = keys[..2]
        .iter()
        .map(|key| queue(database.claim(key, now)))
        .collect();
    let write = queue(note(&database, 5_000));
    let behind: Vec<_> = keys[2..]
        .iter()
        .map(|key| queue(database.claim(key, now)))
        .collect();
    let (all, durable) = (database.commits(), database.durable_commits());
    held.release().await.unwrap();
    join_all(filling).await.into_iter().for_each(Result::unwrap);
    for claimed in join_all(first.into_iter().chain(behind)).await {
        assert_eq!(claimed.unwrap(), ClaimOutcome::Claimed);
    }
    write.await.unwrap();
    assert_eq!(
        (database.commits() - all, database.durable_commits() - durable),
        (3, 2)
    );
    assert_eq!(notes(&database).await.len(), 1_024);
}

/// H23, X4: a claim whose caller has gone does not run, and the write behind it does.
#[tokio::test]
async fn write_behind_abandoned_claim_runs() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let held = Held::writer_of(&database).await;
    let filling: Vec<_> = (0..1_023).map(|id| queue(note(&database, id))).collect();
    let (now, key) = (SystemTime::UNIX_EPOCH, claim(1));
    drop(queue(database.claim(&key, now)));
    let write = queue(note(&database, 5_000));
    held.release().await.unwrap();
    join_all(filling).await.into_iter().for_each(Result::unwrap);
    write.await.unwrap();
    assert_eq!(synchronous(&database).await, 2, "FULL");
    assert_eq!(database.claim(&key, now).await.unwrap(), ClaimOutcome::Claimed);
}
