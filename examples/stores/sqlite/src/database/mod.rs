//! One SQLite file with one writer thread and group commit.
//!
//! A commit that survives a power cut syncs the disk, which takes milliseconds. One commit per
//! operation would allow a few hundred operations per second. Therefore the writer takes all queued
//! operations, runs each under its own savepoint, commits once, and then returns all results.
//! Operations that arrive during a commit form the next batch, so batches grow with the load.
//!
//! Callers wait on a channel, so no thread of an async runtime is blocked. Any runtime works.
//!
//! # Contract
//!
//! An operation must not:
//!
//! - use `BEGIN`, `COMMIT`, `ROLLBACK` or `OR ROLLBACK`: it shares the transaction with other
//!   operations. Savepoints are allowed.
//! - run for long: all operations wait for the one writer.
//! - wait for another operation or query of the same database: it would block the thread that runs
//!   it.
//! - leave a *deferred* constraint violated: the commit then fails for the whole batch.
//!
//! A violation loses no acknowledged write: if a batch cannot be committed, none of its operations
//! is acknowledged.

mod connection;
mod error;
mod job;
mod migration;
#[cfg(all(
    test,
    feature = "conventions",
    feature = "graph",
    feature = "oauth",
    feature = "webhooks"
))]
mod plans;
mod worker;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, Transaction};
#[cfg(feature = "webhooks")]
use webhook_core::sender::SecretsAtRest;

#[cfg(feature = "webhooks")]
use crate::webhook::InstanceLocks;

use self::job::{BoxedJob, JobReceiver, job};
use self::worker::Worker;
use self::writer::{Commits, Writer};

pub use self::error::{DatabaseError, DatabaseErrorKind};

/// Number of threads that read a file in parallel with its writer.
const READERS: usize = 2;

/// Handle on one SQLite file, or on one in-memory database. Clones share it.
///
/// It implements the store ports of the enabled features. Dropping the last clone blocks until
/// started operations are committed and the threads have ended; queued operations do not run.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), host_store_sqlite::DatabaseError> {
/// use host_store_sqlite::{Database, DatabaseError};
///
/// let database = Database::open_in_memory()?;
/// let step = "CREATE TABLE charge (id TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT";
/// database.migrate("desk", &[step]).await?;
/// database
///     .write(|transaction| -> Result<(), DatabaseError> {
///         let mut insert = transaction.prepare_cached("INSERT INTO charge VALUES (?1, ?2)")?;
///         insert.execute(("ch_1", 500))?;
///         Ok(())
///     })
///     .await?;
/// let amount = database
///     .read(|connection| -> Result<i64, DatabaseError> {
///         let query = "SELECT amount FROM charge WHERE id = ?1";
///         Ok(connection.query_row(query, ["ch_1"], |row| row.get(0))?)
///     })
///     .await?;
/// assert_eq!(amount, 500);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Database {
    threads: Arc<Threads>,
    #[cfg(feature = "webhooks")]
    pub(crate) secrets: SecretsAtRest,
    #[cfg(feature = "webhooks")]
    pub(crate) locks: Arc<InstanceLocks>,
}

/// Fields in drop order: the writer closes last, to checkpoint and remove the write-ahead log.
#[derive(Debug)]
struct Threads {
    readers: Option<Worker>,
    writer: Worker,
    commits: Arc<Commits>,
    reads: AtomicU64,
}

impl Database {
    /// Opens a file, or creates it if absent, and creates the tables of the enabled features.
    ///
    /// The call blocks for some milliseconds, so make it at startup. Several handles, in one
    /// process or several, can have the same file open; their writes take turns.
    ///
    /// # Errors
    ///
    /// - [`Unavailable`](DatabaseErrorKind::Unavailable): the file cannot be opened, or its file
    ///   system does not support the shared memory of the write-ahead log.
    /// - [`Corrupt`](DatabaseErrorKind::Corrupt): the file is not a database.
    /// - [`Incompatible`](DatabaseErrorKind::Incompatible): another release or another application
    ///   made it.
    /// - [`Busy`](DatabaseErrorKind::Busy): another process keeps it locked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DatabaseError> {
        let path = connection::absolute(path.as_ref())?;
        let writer = connection::writer(&path)?;
        let database = Self::start(writer, || {
            let readers = (0..READERS)
                .map(|_| connection::reader(&path))
                .collect::<Result<_, _>>()?;
            Ok(Some(Worker::readers(readers)?))
        })?;
        Ok(Self {
            #[cfg(feature = "webhooks")]
            locks: Arc::new(InstanceLocks::beside(path.clone())),
            ..database
        })
    }

    /// Opens an in-memory database. Its data is lost when the last handle is dropped.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable): a thread cannot be started.
    pub fn open_in_memory() -> Result<Self, DatabaseError> {
        Self::start(connection::memory()?, || Ok(None))
    }

    fn start(
        mut writer: Connection,
        readers: impl FnOnce() -> Result<Option<Worker>, DatabaseError>,
    ) -> Result<Self, DatabaseError> {
        migration::migrate_suite(&mut writer)?;
        let commits = Arc::<Commits>::default();
        let threads = Threads {
            readers: readers()?,
            writer: Worker::writer(Writer::new(writer, Arc::clone(&commits)))?,
            commits,
            reads: AtomicU64::new(0),
        };
        Ok(Self {
            threads: Arc::new(threads),
            #[cfg(feature = "webhooks")]
            secrets: SecretsAtRest::plaintext(),
            #[cfg(feature = "webhooks")]
            locks: Arc::default(),
        })
    }

    /// Encrypts the signing secrets of webhook endpoints at rest. Every handle on the file must use
    /// the same sealer (the encryption key and algorithm in `secrets`).
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn with_secrets_at_rest(self, secrets: SecretsAtRest) -> Self {
        Self { secrets, ..self }
    }

    /// The sealer of signing secrets, for the functions of [`endpoints`](crate::endpoints).
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn secrets_at_rest(&self) -> &SecretsAtRest {
        &self.secrets
    }

    /// Runs `operation` as one atomic, durable step.
    ///
    /// # Contract
    ///
    /// - `Ok` is returned after the commit has reached the disk.
    /// - `Err` and a panic roll back the writes of this operation, and of no other operation.
    /// - Nothing happens before the future is first polled. If it is dropped, an operation that has
    ///   not started never runs, and one that has started runs to its end.
    ///
    /// # Errors
    ///
    /// The error of the operation, or a [`DatabaseError`] if the operation could not be run or
    /// committed.
    pub async fn write<T, E>(
        &self,
        operation: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let (operation, answer) = job(true, operation);
        ask(&self.threads.writer, operation, answer).await
    }

    /// Like [`write`](Self::write), but a power cut may lose the write. A later write that is
    /// durable makes this one durable as well.
    pub(crate) async fn write_without_sync<T, E>(
        &self,
        operation: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let (operation, answer) = job(false, operation);
        ask(&self.threads.writer, operation, answer).await
    }

    /// Runs `query` on one consistent snapshot, which contains every write that was acknowledged
    /// before the call.
    ///
    /// Queries of a file run in parallel with its writer; queries of an in-memory database run
    /// between its writes.
    ///
    /// # Errors
    ///
    /// The error of the query, or a [`DatabaseError`] if the query could not be run. A statement
    /// that writes fails with [`Unavailable`](DatabaseErrorKind::Unavailable).
    pub async fn read<T, E>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        self.threads.reads.fetch_add(1, Ordering::Relaxed);
        if let Some(readers) = &self.threads.readers {
            let (query, answer) = job(false, |snapshot: &Transaction<'_>| query(snapshot));
            ask(readers, query, answer).await
        } else {
            self.write_without_sync(|transaction| query(ReadOnly::guard(transaction)?.0))
                .await
        }
    }

    /// Migrates the host's own tables to the last of `steps`, in one transaction.
    ///
    /// # Contract
    ///
    /// - Step N takes component `name` from version N to N + 1 and runs once per file.
    /// - A release appends steps and never edits one.
    /// - The suite owns the tables `store_component`, `graph_*`, `idempotency_*`, `oauth_*`,
    ///   `rate_limit_*` and `webhook_*`. All other names are the host's.
    ///
    /// # Errors
    ///
    /// - [`Incompatible`](DatabaseErrorKind::Incompatible): the file has run more steps than
    ///   `steps` has.
    /// - [`Failed`](DatabaseErrorKind::Failed): SQLite rejected a step; all steps are rolled back.
    pub async fn migrate(&self, name: &str, steps: &[&str]) -> Result<(), DatabaseError> {
        let name = name.to_owned();
        let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
        self.write(move |transaction| migration::migrate_component(transaction, &name, &steps))
            .await
    }

    /// Number of transactions that this handle and its clones have committed. Under load there are
    /// far fewer transactions than operations.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.threads.commits.all.load(Ordering::Relaxed)
    }

    /// Number of those transactions that waited for the disk. A claim of an idempotency key whose
    /// handler completes it in its own transaction does not wait.
    #[must_use]
    pub fn durable_commits(&self) -> u64 {
        self.threads.commits.durable.load(Ordering::Relaxed)
    }

    /// Number of queries that this handle and its clones have run, for tests that count queries.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.threads.reads.load(Ordering::Relaxed)
    }
}

async fn ask<T, E>(worker: &Worker, job: BoxedJob, answer: JobReceiver<T, E>) -> Result<T, E>
where
    E: From<DatabaseError>,
{
    worker.submit(job);
    answer
        .await
        .unwrap_or_else(|_gone| Err(DatabaseError::closed().into()))
}

/// The writer's connection while writes are disabled.
struct ReadOnly<'connection>(&'connection Connection);

impl<'connection> ReadOnly<'connection> {
    fn guard(connection: &'connection Connection) -> Result<Self, DatabaseError> {
        connection.pragma_update(None, "query_only", true)?;
        Ok(Self(connection))
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        // this fails only if memory is exhausted, and then the next write reports it
        drop(self.0.pragma_update(None, "query_only", false));
    }
}
