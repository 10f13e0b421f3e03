//! A bounded pool of connections to one schema of a PostgreSQL database.
//!
//! Every operation is one transaction at `READ COMMITTED`: a statement that follows a lock sees the
//! writes of the lock's previous holder. Operations run in the tokio runtime in which the
//! [`Database`] was created; callers may use any runtime. If the caller drops the future of an
//! operation, the operation still completes.

mod clock;
#[cfg(feature = "webhooks")]
mod dedicated;
mod error;
pub(crate) mod limits;
mod migration;

use std::fmt;
use std::future::Future;
use std::pin::pin;
#[cfg(feature = "webhooks")]
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgPool, Postgres, Transaction};
use tokio::runtime::Handle;
use tokio::time::timeout;
#[cfg(feature = "webhooks")]
use webhook_core::sender::SecretsAtRest;

#[cfg(feature = "webhooks")]
pub(crate) use self::dedicated::Dedicated;
#[cfg(feature = "webhooks")]
use crate::webhook::GroupWriter;

pub use self::clock::DatabaseClock;
pub use self::error::{DatabaseError, DatabaseErrorKind};

/// Session settings of each connection. They bound the time for which a crashed client holds its
/// locks, and the wait for a lock or a statement. Single-statement operations begin no transaction,
/// so they run at the default isolation level of the session.
const SETTINGS: [(&str, &str); 8] = [
    ("default_transaction_isolation", "read committed"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("lock_timeout", "10s"),
    ("statement_timeout", "30s"),
    // the server detects a broken connection and releases the locks of its client
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "3"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "15s"),
];

/// Handle on the suite's tables. Clones share its connections.
///
/// It implements the store ports of the enabled features.
#[derive(Clone)]
pub struct Database {
    pool: PgPool,
    runtime: Handle,
    #[cfg(feature = "webhooks")]
    pub(crate) secrets: SecretsAtRest,
    #[cfg(feature = "webhooks")]
    pub(crate) connections: Arc<Connections>,
    #[cfg(feature = "webhooks")]
    pub(crate) soft_turns: bool,
}

/// Connections that the outbox keeps open, one for each purpose.
#[cfg(feature = "webhooks")]
pub(crate) struct Connections {
    runtime: Handle,
    pub(crate) turns: Dedicated,
    pub(crate) heartbeats: Dedicated,
    pub(crate) writer: OnceLock<GroupWriter>,
}

#[cfg(feature = "webhooks")]
impl Connections {
    fn new(runtime: Handle) -> Self {
        Self {
            runtime,
            turns: Dedicated::default(),
            heartbeats: Dedicated::default(),
            writer: OnceLock::new(),
        }
    }
}

#[cfg(feature = "webhooks")]
impl Drop for Connections {
    /// Returns the connections inside the pool's runtime: outside a tokio runtime sqlx panics.
    fn drop(&mut self) {
        let _entered = self.runtime.enter();
        self.turns.release();
        self.heartbeats.release();
    }
}

impl Database {
    /// Connects, and creates the tables of the enabled features.
    ///
    /// The tables are in the first schema of the `search_path`; `…?options[search_path]=webhooks`
    /// in the URL selects another. The pool opens at most 10 connections. Timeouts: 10 s for a lock
    /// or a connection, 30 s for a statement, 60 s for an idle transaction. Use
    /// [`with_pool`](Self::with_pool) for other settings.
    ///
    /// # Errors
    ///
    /// - [`Unavailable`](DatabaseErrorKind::Unavailable): the database cannot be reached.
    /// - [`Incompatible`](DatabaseErrorKind::Incompatible): another release made the tables.
    /// - [`Failed`](DatabaseErrorKind::Failed): the URL is invalid, the server refuses the
    ///   connection or a statement, or no tokio runtime is running.
    pub async fn connect(url: &str) -> Result<Self, DatabaseError> {
        let options: PgConnectOptions = url.parse()?;
        let pool = Self::pool_options()
            .connect_with(options.options(SETTINGS))
            .await?;
        Self::with_pool(pool).await
    }

    /// Pool settings of [`connect`](Self::connect), for a host that changes some of them.
    ///
    /// - At most 10 connections; a timeout of 10 s for a free one.
    /// - A connection that was idle for at least 1 s is tested before it is used. For 60 s after an
    ///   operation has timed out, every connection is also tested when it returns to the pool. A
    ///   connection that does not answer a test within 0.9 s is replaced.
    #[must_use]
    pub fn pool_options() -> PgPoolOptions {
        limits::pool_options()
    }

    /// Uses the host's pool unchanged, and creates the tables of the enabled features.
    ///
    /// The timeouts of [`connect`](Self::connect) for a lock, a statement and an idle transaction
    /// are session settings: they do not apply here unless the host sets them on its connections.
    ///
    /// # Errors
    ///
    /// The same as for [`connect`](Self::connect).
    pub async fn with_pool(pool: PgPool) -> Result<Self, DatabaseError> {
        let runtime =
            Handle::try_current().map_err(|error| DatabaseError::new(DatabaseErrorKind::Failed, error))?;
        migration::migrate_suite(&pool).await?;
        #[cfg(feature = "webhooks")]
        let connections = Arc::new(Connections::new(runtime.clone()));
        Ok(Self {
            pool,
            runtime,
            #[cfg(feature = "webhooks")]
            secrets: SecretsAtRest::plaintext(),
            #[cfg(feature = "webhooks")]
            connections,
            #[cfg(feature = "webhooks")]
            soft_turns: false,
        })
    }

    /// Encrypts the signing secrets of webhook endpoints at rest. All processes must use the same
    /// sealer (the encryption key and algorithm in `secrets`).
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

    /// Commits the leases and delivery outcomes of the outbox with `synchronous_commit = off`.
    ///
    /// A crash of the database server can then lose the last of these commits (about 0.6 s with the
    /// default `wal_writer_delay`); the events concerned are delivered again. Commits of events and
    /// of all other tables still wait for the disk.
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn with_soft_turns(self) -> Self {
        Self {
            soft_turns: true,
            ..self
        }
    }

    /// Connection pool, for transactions of the host.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Migrates the host's own tables to the last of `steps`, in one transaction.
    ///
    /// # Contract
    ///
    /// - Step N takes component `name` from version N to N + 1. It runs once per schema, even if
    ///   several processes start at the same time.
    /// - A release appends steps and never edits one.
    /// - The suite owns the tables `store_component`, `graph_*`, `idempotency_*`, `oauth_*`,
    ///   `rate_limit_*` and `webhook_*`, and the components that begin with
    ///   `host-store-postgres/`. All other names are the host's.
    ///
    /// # Errors
    ///
    /// - [`Incompatible`](DatabaseErrorKind::Incompatible): the schema has run more steps than
    ///   `steps` has.
    /// - [`Failed`](DatabaseErrorKind::Failed): PostgreSQL rejected a step; all steps are rolled
    ///   back.
    pub async fn migrate(&self, name: &str, steps: &[&'static str]) -> Result<(), DatabaseError> {
        migration::migrate(&self.pool, name, steps).await
    }

    /// Runs an operation to its end, in the runtime of the pool.
    pub(crate) async fn run<T, F>(&self, operation: impl FnOnce(PgPool) -> F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        self.run_within(limits::OPERATION, operation).await
    }

    /// Runs an operation on many rows to its end, in the runtime of the pool.
    pub(crate) async fn run_long<T, F>(&self, operation: impl FnOnce(PgPool) -> F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        self.run_within(limits::LONG_OPERATION, operation).await
    }

    async fn run_within<T, F>(
        &self,
        limit: Duration,
        operation: impl FnOnce(PgPool) -> F,
    ) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        let operation = operation(self.pool.clone());
        self.spawn(async move {
            let mut operation = pin!(operation);
            // `give_up` must run before the operation is dropped, which releases its connection
            let result = timeout(limit, operation.as_mut()).await;
            result.unwrap_or_else(|_elapsed| Err(limits::give_up(limit)))
        })
        .await
    }

    /// Starts a task in the runtime of the pool.
    #[cfg(feature = "webhooks")]
    pub(crate) fn start(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Runs a task to its end in the runtime of the pool, even if the caller drops the future.
    pub(crate) async fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, DatabaseError>> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        match self.runtime.spawn(task).await {
            Ok(result) => result,
            Err(error) => Err(DatabaseError::new(DatabaseErrorKind::Unavailable, error)),
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Database")
            .field("connections", &self.pool.size())
            .finish_non_exhaustive()
    }
}

/// Begins the transaction of an operation at `READ COMMITTED`, whatever the server's default is.
pub(crate) async fn begin(pool: &PgPool) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    Ok(pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?)
}
