//! One SQLite file behind one writer thread that commits many verbs at once.
//!
//! A commit that survives a power cut costs a sync of the disk, some milliseconds on common hardware. One commit for
//! each verb would allow a few hundred verbs a second; so the writer takes everything that waits, runs each verb
//! under a savepoint of its own, commits once, and only then answers all. Under load the batches grow by themselves:
//! whatever arrives during one commit is the next batch.
//!
//! Callers wait on a channel, never on the disk, so no thread of an async runtime is ever blocked; no particular
//! runtime is needed.
//!
//! # What a verb must not do
//!
//! - `BEGIN`, `COMMIT`, `ROLLBACK` or `OR ROLLBACK`: the transaction belongs to its neighbours too. Savepoints are fine.
//! - take long: it holds the only writer.
//! - wait for another verb or query of the same database: in memory, and for a verb, that is the thread it runs on.
//! - leave a *deferred* constraint violated: that is found at the commit, which then fails for the whole batch.
//!
//! Nothing of this loses data: a batch that cannot be committed is acknowledged to nobody.

mod connection;
mod error;
mod job;
mod migration;
#[cfg(all(test, feature = "conventions", feature = "oauth", feature = "webhooks"))]
mod plans;
mod worker;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, Transaction};
#[cfg(feature = "webhooks")]
use webhook_core::sender::SignersAtRest;

use self::job::{BoxedJob, JobReceiver, job};
use self::worker::Worker;
use self::writer::Writer;

pub use self::error::{DatabaseError, DatabaseErrorKind};

/// Threads that read a file beside its writer.
const READERS: usize = 2;

/// A handle on one SQLite file, or on one database in memory. Clones share it.
///
/// The store ports of the features that are on are implemented for it. Dropping the last clone blocks until what has begun is committed
/// and the threads have ended; what had not begun never does.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), host_store_sqlite::DatabaseError> {
/// use host_store_sqlite::{Database, DatabaseError};
///
/// let database = Database::open_in_memory()?;
/// database.migrate("desk", &["CREATE TABLE charge (id TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT"]).await?;
/// database
///     .write(|transaction| -> Result<(), DatabaseError> {
///         transaction.prepare_cached("INSERT INTO charge VALUES (?1, ?2)")?.execute(("ch_1", 500))?;
///         Ok(())
///     })
///     .await?;
/// let amount = database
///     .read(|connection| -> Result<i64, DatabaseError> {
///         Ok(connection.query_row("SELECT amount FROM charge WHERE id = ?1", ["ch_1"], |row| row.get(0))?)
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
    pub(crate) signers: SignersAtRest,
}

/// The order matters: the writer closes last, so that it can move the log into the file and remove it.
#[derive(Debug)]
struct Threads {
    readers: Option<Worker>,
    writer: Worker,
    commits: Arc<AtomicU64>,
    reads: AtomicU64,
}

impl Database {
    /// Opens a file, creating it when it is absent, and makes the tables of this build's features.
    ///
    /// Blocks for some milliseconds: call it at start. Several handles, in one process or in many, may hold the same
    /// file; they take turns.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable) when the file cannot be opened or its file system has no
    /// shared memory for the write-ahead log, [`Corrupt`](DatabaseErrorKind::Corrupt) when it is not a database,
    /// [`Incompatible`](DatabaseErrorKind::Incompatible) when another release wrote it or another application owns it,
    /// [`Busy`](DatabaseErrorKind::Busy) when another process keeps it locked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DatabaseError> {
        let path = connection::absolute(path.as_ref())?;
        let writer = connection::writer(&path)?;
        Self::start(writer, || {
            let readers = (0..READERS)
                .map(|_| connection::reader(&path))
                .collect::<Result<_, _>>()?;
            Ok(Some(Worker::readers(readers)?))
        })
    }

    /// Opens a database that lives in memory, and no longer than its last handle.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable) when no thread can be started.
    pub fn open_in_memory() -> Result<Self, DatabaseError> {
        Self::start(connection::memory()?, || Ok(None))
    }

    fn start(
        mut writer: Connection,
        readers: impl FnOnce() -> Result<Option<Worker>, DatabaseError>,
    ) -> Result<Self, DatabaseError> {
        migration::migrate_suite(&mut writer)?;
        let commits = Arc::new(AtomicU64::new(0));
        let threads = Threads {
            readers: readers()?,
            writer: Worker::writer(Writer::new(writer, Arc::clone(&commits)))?,
            commits,
            reads: AtomicU64::new(0),
        };
        Ok(Self {
            threads: Arc::new(threads),
            #[cfg(feature = "webhooks")]
            signers: SignersAtRest::plaintext(),
        })
    }

    /// Keeps the signing secrets of webhook endpoints sealed, not in clear. Every handle on the file needs the same.
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn with_signers_at_rest(self, signers: SignersAtRest) -> Self {
        Self { signers, ..self }
    }

    /// Runs `verb` as one atomic, durable step.
    ///
    /// `Ok` is answered only after the commit has reached the disk. `Err` and a panic undo what this verb wrote, and
    /// nothing else. Nothing happens before the future is first polled; once it is dropped, a verb that has not begun
    /// never runs, and one that has begun ends as if the caller were there.
    ///
    /// # Errors
    ///
    /// The verb's own, or a [`DatabaseError`] when it could not be run or committed.
    pub async fn write<T, E>(
        &self,
        verb: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let (verb, answer) = job(verb);
        ask(&self.threads.writer, verb, answer).await
    }

    /// Runs `query` on one consistent snapshot, which holds every write that was answered before the call.
    ///
    /// A file is read beside its writer; a database in memory is read between its writes.
    ///
    /// # Errors
    ///
    /// The query's own, or a [`DatabaseError`] when it could not be run. Writing is refused with
    /// [`Unavailable`](DatabaseErrorKind::Unavailable).
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
            let (query, answer) = job(|snapshot: &Transaction<'_>| query(snapshot));
            ask(readers, query, answer).await
        } else {
            self.write(|transaction| query(ReadOnly::guard(transaction)?.0))
                .await
        }
    }

    /// Brings a host's own tables to the version that `steps` describe, in one transaction.
    ///
    /// Step N takes component `name` from version N to N + 1 and runs once per file. A release appends steps and never
    /// edits one. The suite's tables are `store_component`, `idempotency_*`, `oauth_*`, `rate_limit_*` and `webhook_*`; any other name is the
    /// host's.
    ///
    /// # Errors
    ///
    /// [`Incompatible`](DatabaseErrorKind::Incompatible) when the file is ahead of `steps`,
    /// [`Failed`](DatabaseErrorKind::Failed) when a step is refused; then none of them has run.
    pub async fn migrate(&self, name: &str, steps: &[&str]) -> Result<(), DatabaseError> {
        let name = name.to_owned();
        let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
        self.write(move |transaction| migration::migrate_component(transaction, &name, &steps))
            .await
    }

    /// The transactions that this handle and its clones have committed: under load far fewer than verbs.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.threads.commits.load(Ordering::Relaxed)
    }

    /// The queries that this handle and its clones were asked for: what a page costs the database.
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

/// The writer's connection while it may only read.
struct ReadOnly<'connection>(&'connection Connection);

impl<'connection> ReadOnly<'connection> {
    fn guard(connection: &'connection Connection) -> Result<Self, DatabaseError> {
        connection.pragma_update(None, "query_only", true)?;
        Ok(Self(connection))
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        // turning it off can only fail for want of memory, and then the next write says so
        drop(self.0.pragma_update(None, "query_only", false));
    }
}
