//! A bounded pool of connections to one schema of a PostgreSQL database.
//!
//! Every operation is one transaction at `READ COMMITTED`: a statement after a lock sees the writes
//! of the previous holder. Operations run in the runtime of the pool, for callers of any runtime.
//! If the caller is dropped, the operation still completes.

mod clock;
mod error;
mod migration;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgPool, Postgres, Transaction};
use tokio::runtime::Handle;
#[cfg(feature = "webhooks")]
use webhook_core::sender::SignersAtRest;

pub use self::clock::DatabaseClock;
pub use self::error::{DatabaseError, DatabaseErrorKind};

/// Session settings of each connection. They bound the time that a crashed machine holds its locks,
/// and the wait for a lock or a statement. Operations of one statement use the default isolation.
const SETTINGS: [(&str, &str); 4] = [
    ("default_transaction_isolation", "read committed"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("lock_timeout", "10s"),
    ("statement_timeout", "30s"),
];

/// Limit of connections of one process.
const CONNECTIONS: u32 = 10;

/// Timeout for a free connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Handle on the suite's tables. Clones share its connections.
///
/// It implements the store ports of the enabled features.
#[derive(Clone)]
pub struct Database {
    pool: PgPool,
    runtime: Handle,
    #[cfg(feature = "webhooks")]
    pub(crate) signers: SignersAtRest,
}

impl Database {
    /// Connects, and makes the tables of this build's features.
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
    /// - [`Failed`](DatabaseErrorKind::Failed): the URL is invalid, the database refuses it, or no
    ///   tokio runtime is running.
    pub async fn connect(url: &str) -> Result<Self, DatabaseError> {
        let options: PgConnectOptions = url.parse()?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            .connect_with(options.options(SETTINGS))
            .await?;
        Self::with_pool(pool).await
    }

    /// Uses a pool of the host unchanged, and makes the tables of this build's features.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn with_pool(pool: PgPool) -> Result<Self, DatabaseError> {
        let runtime =
            Handle::try_current().map_err(|error| DatabaseError::new(DatabaseErrorKind::Failed, error))?;
        migration::migrate_suite(&pool).await?;
        Ok(Self {
            pool,
            runtime,
            #[cfg(feature = "webhooks")]
            signers: SignersAtRest::plaintext(),
        })
    }

    /// Encrypts the signing secrets of webhook endpoints at rest. Every process needs the same
    /// sealer.
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn with_signers_at_rest(self, signers: SignersAtRest) -> Self {
        Self { signers, ..self }
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
    /// - Step N takes component `name` from version N to N + 1. It runs once per schema, also if
    ///   many processes start together.
    /// - A release appends steps and never edits one.
    /// - The suite owns the tables `store_component`, `idempotency_*`, `oauth_*`, `rate_limit_*`
    ///   and `webhook_*`, and the components that begin with `host-store-postgres/`. All other
    ///   names are the host's.
    ///
    /// # Errors
    ///
    /// - [`Incompatible`](DatabaseErrorKind::Incompatible): the schema has run more steps than
    ///   `steps` has.
    /// - [`Failed`](DatabaseErrorKind::Failed): a step was refused; none of them has run.
    pub async fn migrate(&self, name: &str, steps: &[&'static str]) -> Result<(), DatabaseError> {
        migration::migrate(&self.pool, name, steps).await
    }

    /// Runs an operation to its end, in the runtime of the pool.
    pub(crate) async fn run<T, F>(&self, operation: impl FnOnce(PgPool) -> F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        match self.runtime.spawn(operation(self.pool.clone())).await {
            Ok(answer) => answer,
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

/// Begins the transaction of an operation at `READ COMMITTED`, for any default of the server.
pub(crate) async fn begin(pool: &PgPool) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    Ok(pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?)
}
