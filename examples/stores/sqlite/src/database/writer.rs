//! Group commit: all queued jobs share one transaction, and are answered after it is on the disk.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::DatabaseError;
use super::job::{BoxedJob, awaited};

/// Limit of jobs in a batch, which bounds how long the first waits for the last.
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

    /// Runs `first` and all queued jobs in one transaction, then answers each.
    ///
    /// Jobs that arrive meanwhile join the batch: the sync at its end takes most of the time.
    pub(super) fn commit_together(&mut self, first: BoxedJob, queue: &Receiver<BoxedJob>) {
        let waiting = iter::once(first).chain(queue.try_iter()).filter_map(awaited);
        let mut waiting = waiting.take(BATCH).peekable();
        if waiting.peek().is_none() {
            return;
        }
        let mut batch = Vec::new();
        match self.execute(&mut waiting, &mut batch) {
            Ok(()) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => batch.iter_mut().for_each(|job| job.fail(error.clone())),
        }
        batch.into_iter().for_each(|job| job.answer());
    }

    /// Moves jobs from `waiting` to `batch` as it runs them.
    fn execute(
        &mut self,
        waiting: &mut impl Iterator<Item = BoxedJob>,
        batch: &mut Vec<BoxedJob>,
    ) -> Result<(), DatabaseError> {
        let transaction = match self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
        {
            Ok(transaction) => transaction,
            Err(error) => {
                // each would wait for the same lock in vain
                batch.extend(waiting);
                return Err(error.into());
            }
        };
        for mut job in waiting {
            let outcome = run_alone(&transaction, &mut job);
            batch.push(job);
            outcome?;
        }
        Ok(transaction.commit()?)
    }
}

/// Runs one job under its own savepoint, so that its failure rolls back no other job.
///
/// # Errors
///
/// The transaction itself is lost: SQLite rolls all of it back if the disk is full or fails.
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
