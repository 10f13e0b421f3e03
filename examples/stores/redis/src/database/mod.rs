//! One connection to a Redis server, with one prefix of keys.
//!
//! Operations run in the runtime of the connection, for callers of any runtime. An operation whose
//! caller is dropped runs to its end.

mod error;
#[cfg(feature = "tls")]
mod tls;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use redis::Client;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use tokio::runtime::Handle;

pub use self::error::{DatabaseError, DatabaseErrorKind};

/// Timeout for the answer to an operation.
const PATIENCE: Duration = Duration::from_secs(5);

/// Handle on one prefix of keys. Clones share its connection, which reconnects when it breaks.
///
/// It implements the store ports of the enabled features.
#[derive(Clone)]
pub struct Database {
    client: Client,
    connection: ConnectionManager,
    prefix: Arc<str>,
    runtime: Handle,
}

impl Database {
    /// Connects. The feature `tls` adds `rediss://` URLs, whose certificates the system's roots
    /// verify. Every key begins with `{prefix}:`, so that stores with different prefixes share
    /// nothing.
    ///
    /// # Errors
    ///
    /// - [`Unavailable`](DatabaseErrorKind::Unavailable): the server cannot be reached.
    /// - [`Failed`](DatabaseErrorKind::Failed): the URL is invalid, the prefix is empty or contains
    ///   braces, the server refuses the connection, or no tokio runtime is running.
    pub async fn connect(url: &str, prefix: &str) -> Result<Self, DatabaseError> {
        Self::with_client(Client::open(url)?, prefix).await
    }

    /// As [`connect`](Self::connect), with a client of the host, for example one that trusts a
    /// private certificate authority (`Client::build_with_tls`).
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn with_client(client: Client, prefix: &str) -> Result<Self, DatabaseError> {
        #[cfg(feature = "tls")]
        tls::ensure_provider();
        // otherwise keys of two prefixes could be equal, or be spread over slots
        if prefix.is_empty() || prefix.contains(['{', '}']) {
            return Err(DatabaseError::new(
                DatabaseErrorKind::Failed,
                "the prefix is empty or contains braces, choose one such as hooks",
            ));
        }
        let runtime =
            Handle::try_current().map_err(|error| DatabaseError::new(DatabaseErrorKind::Failed, error))?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
            .set_number_of_retries(1);
        Ok(Self {
            connection: ConnectionManager::new_with_config(client.clone(), config).await?,
            client,
            prefix: prefix.into(),
            runtime,
        })
    }

    /// Asks the server for a response, for example to find out if the host is ready.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`], of the same kinds as for an operation of a store.
    pub async fn ping(&self) -> Result<(), DatabaseError> {
        self.run(|mut connection| async move {
            let _pong: String = redis::cmd("PING").query_async(&mut connection).await?;
            Ok(())
        })
        .await
    }

    /// Client for further connections to the server.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns a key of this store.
    pub(crate) fn key(&self, name: impl fmt::Display) -> String {
        format!("{{{}}}:{name}", self.prefix)
    }

    /// Runs an operation to its end, in the runtime of the connection.
    pub(crate) async fn run<T, F>(
        &self,
        operation: impl FnOnce(ConnectionManager) -> F,
    ) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        match self.runtime.spawn(operation(self.connection.clone())).await {
            Ok(answer) => answer,
            Err(error) => Err(DatabaseError::new(DatabaseErrorKind::Unavailable, error)),
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Database")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
