//! Group commit: everything that waits goes into one transaction, and nobody is answered before it is on the disk.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::DatabaseError;
use super::job::BoxedJob;

/// Bounds how long the first verb of a batch waits for the last one.
const BATCH: usize = 1024;

/// The only connection that writes.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    commits: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn new(connection: Connection, commits: Arc<AtomicU64>) -> Self {
        Self { connection, commits }
    }

    /// Runs `first` and everything queued behind it in one transaction, then answers each.
    pub(super) fn commit_together(&mut self, first: BoxedJob, queue: &Receiver<BoxedJob>) {
        let waiting = iter::once(first).chain(queue.try_iter());
        let mut batch: Vec<BoxedJob> = waiting.take(BATCH).filter(|job| job.is_awaited()).collect();
        if batch.is_empty() {
            return;
        }
        match self.execute(&mut batch) {
            Ok(()) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => batch.iter_mut().for_each(|job| job.fail(error.clone())),
        }
        batch.into_iter().for_each(|job| job.answer());
    }

    fn execute(&mut self, batch: &mut [BoxedJob]) -> Result<(), DatabaseError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for job in batch {
            run_alone(&transaction, job)?;
        }
        Ok(transaction.commit()?)
    }
}

/// Runs one job under a savepoint of its own, so that its failure undoes nothing of its neighbours'.
///
/// # Errors
///
/// When the transaction itself is lost; SQLite rolls back as a whole when the disk is full or fails.
fn run_alone(transaction: &Transaction<'_>, job: &mut BoxedJob) -> Result<(), DatabaseError> {
    transaction
        .prepare_cached("SAVEPOINT store_sqlite_verb")?
        .execute(())?;
    let keep = job.run(transaction);
    if transaction.is_autocommit() {
        return Err(DatabaseError::rolled_back());
    }
    if !keep {
        transaction
            .prepare_cached("ROLLBACK TO store_sqlite_verb")?
            .execute(())?;
    }
    transaction
        .prepare_cached("RELEASE store_sqlite_verb")?
        .execute(())?;
    Ok(())
}
