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
    /// `true` if commits sync the disk.
    durable: bool,
    commits: Arc<Commits>,
}

/// Numbers of committed transactions.
#[derive(Debug, Default)]
pub(super) struct Commits {
    pub(super) all: AtomicU64,
    pub(super) durable: AtomicU64,
}

impl Writer {
    /// `connection` is durable.
    pub(super) fn new(connection: Connection, commits: Arc<Commits>) -> Self {
        Self {
            connection,
            durable: true,
            commits,
        }
    }

    /// Runs `first` and all queued jobs in one transaction, then answers each.
    ///
    /// Jobs that arrive meanwhile join the batch: the sync at its end takes most of the time. If
    /// `first` is not durable, the batch ends before the first durable job and is not synced. That
    /// job is returned; it begins the next batch.
    pub(super) fn commit_together(
        &mut self,
        first: BoxedJob,
        queue: &Receiver<BoxedJob>,
    ) -> Option<BoxedJob> {
        let durable = first.is_durable();
        let mut next = None;
        let queued = iter::from_fn(|| {
            let job = queue.try_recv().ok()?;
            if durable || !job.is_durable() {
                return Some(job);
            }
            next = Some(job);
            None
        });
        let waiting = iter::once(first).chain(queued.fuse()).filter_map(awaited);
        let mut waiting = waiting.take(BATCH).peekable();
        let mut batch = Vec::new();
        if waiting.peek().is_some() {
            match self.execute(durable, &mut waiting, &mut batch) {
                Ok(()) => self.count(durable),
                Err(error) => batch.iter_mut().for_each(|job| job.fail(error.clone())),
            }
        }
        drop(waiting);
        batch.into_iter().for_each(|job| job.answer());
        next
    }

    fn count(&self, durable: bool) {
        self.commits.all.fetch_add(1, Ordering::Relaxed);
        if durable {
            self.commits.durable.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Selects whether the next commits sync the disk. A later sync covers earlier commits too,
    /// because they share the log.
    fn set_durable(&mut self, durable: bool) -> Result<(), DatabaseError> {
        if self.durable != durable {
            let mode = if durable { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", mode)?;
            self.durable = durable;
        }
        Ok(())
    }

    /// Moves jobs from `waiting` to `batch` as it runs them.
    fn execute(
        &mut self,
        durable: bool,
        waiting: &mut impl Iterator<Item = BoxedJob>,
        batch: &mut Vec<BoxedJob>,
    ) -> Result<(), DatabaseError> {
        let begun = self.set_durable(durable).and_then(|()| {
            let connection = &mut self.connection;
            Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
        });
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => {
                // each would wait for the same lock in vain
                batch.extend(waiting);
                return Err(error);
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
