//! A bounded pool of connections to one schema of one PostgreSQL database.
//!
//! Every verb is one transaction at `READ COMMITTED`, so that a statement after a lock sees what the lock's last holder wrote.
//! Verbs run in the runtime that the pool was made in, whoever calls; one whose caller goes away runs to its end.

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

/// What each connection asks of the server: a machine that dies in the middle of a transaction holds its locks no longer than
/// this, and nobody waits for a lock or a statement for ever. Verbs of one statement take the default isolation.
const SETTINGS: [(&str, &str); 4] = [
    ("default_transaction_isolation", "read committed"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("lock_timeout", "10s"),
    ("statement_timeout", "30s"),
];

/// Connections that one process opens at most.
const CONNECTIONS: u32 = 10;

/// How long a verb waits for one of them.
const PATIENCE: Duration = Duration::from_secs(10);

/// A handle on the suite's tables. Clones share its connections.
///
/// The store ports of the features that are on are implemented for it.
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
    /// The tables are in the first schema of the `search_path`; `…?options[search_path]=webhooks` in the URL chooses another.
    /// Opens at most ten connections, whose transactions may not idle for longer than a minute; bring
    /// [a pool of your own](Self::with_pool) for anything else.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable) when the database cannot be reached,
    /// [`Incompatible`](DatabaseErrorKind::Incompatible) when another release made the tables,
    /// [`Failed`](DatabaseErrorKind::Failed) when the URL is not one, the database refuses it, or no tokio runtime is running.
    pub async fn connect(url: &str) -> Result<Self, DatabaseError> {
        let options: PgConnectOptions = url.parse()?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            .connect_with(options.options(SETTINGS))
            .await?;
        Self::with_pool(pool).await
    }

    /// Takes a pool as it is, and makes the tables of this build's features.
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

    /// Keeps the signing secrets of webhook endpoints sealed, not in clear. Every process needs the same.
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn with_signers_at_rest(self, signers: SignersAtRest) -> Self {
        Self { signers, ..self }
    }

    /// The connections: begin your own transactions here.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Brings a host's own tables to the version that `steps` describe, in one transaction.
    ///
    /// Step N takes component `name` from version N to N + 1 and runs once per schema, however many processes start at once. A
    /// release appends steps and never edits one. The suite's tables are `store_component`, `idempotency_*`, `oauth_*`, `rate_limit_*` and `webhook_*`, and its components begin with
    /// `host-store-postgres/`; any other name is the host's.
    ///
    /// # Errors
    ///
    /// [`Incompatible`](DatabaseErrorKind::Incompatible) when the schema is ahead of `steps`,
    /// [`Failed`](DatabaseErrorKind::Failed) when a step is refused; then none of them has run.
    pub async fn migrate(&self, name: &str, steps: &[&'static str]) -> Result<(), DatabaseError> {
        migration::migrate(&self.pool, name, steps).await
    }

    /// Runs a verb to its end, in the pool's own runtime.
    pub(crate) async fn run<T, F>(&self, verb: impl FnOnce(PgPool) -> F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        match self.runtime.spawn(verb(self.pool.clone())).await {
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

/// Begins a verb's transaction, whatever isolation the server has as its default.
pub(crate) async fn begin(pool: &PgPool) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    Ok(pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?)
}
