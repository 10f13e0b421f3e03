//! One connection to a Redis server, under one prefix of keys.
//!
//! Verbs run in the runtime that the connection was made in, whoever calls; one whose caller goes away runs to its end.

mod error;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use redis::Client;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use tokio::runtime::Handle;

pub use self::error::{DatabaseError, DatabaseErrorKind};

/// How long a verb waits for its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A handle on one prefix of keys. Clones share its connection, which is made anew when it breaks.
///
/// The receiver's stores of the suite, and those of `http_conventions`, are implemented for it.
#[derive(Clone)]
pub struct Database {
    client: Client,
    connection: ConnectionManager,
    prefix: Arc<str>,
    runtime: Handle,
}

impl Database {
    /// Connects. Every key is `{prefix}:…`, so that stores with different prefixes share nothing.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable) when the server cannot be reached,
    /// [`Failed`](DatabaseErrorKind::Failed) when the URL is not one, the prefix is empty or has braces of its own, the server
    /// refuses the connection, or no tokio runtime is running.
    pub async fn connect(url: &str, prefix: &str) -> Result<Self, DatabaseError> {
        // the keys of one prefix could be those of another one otherwise, or be spread over slots
        if prefix.is_empty() || prefix.contains(['{', '}']) {
            return Err(DatabaseError::new(
                DatabaseErrorKind::Failed,
                "a prefix is some text without braces",
            ));
        }
        let runtime =
            Handle::try_current().map_err(|error| DatabaseError::new(DatabaseErrorKind::Failed, error))?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
            .set_number_of_retries(1);
        let client = Client::open(url)?;
        Ok(Self {
            connection: ConnectionManager::new_with_config(client.clone(), config).await?,
            client,
            prefix: prefix.into(),
            runtime,
        })
    }

    /// What makes further connections to the server.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// A key of this store.
    pub(crate) fn key(&self, name: impl fmt::Display) -> String {
        format!("{{{}}}:{name}", self.prefix)
    }

    /// Runs a verb to its end, in the connection's own runtime.
    pub(crate) async fn run<T, F>(
        &self,
        verb: impl FnOnce(ConnectionManager) -> F,
    ) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseError>> + Send + 'static,
    {
        match self.runtime.spawn(verb(self.connection.clone())).await {
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
