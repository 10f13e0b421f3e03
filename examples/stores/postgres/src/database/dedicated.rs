//! A connection for one purpose: it is not returned to the pool between its operations.
//!
//! It saves the ping of each release, and other operations cannot use it up.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::limits::{OPERATION, give_up};
use super::{DatabaseError, DatabaseErrorKind};

/// Number of connections that a pool must have before one of them is kept.
const SPARE: u32 = 6;

#[derive(Clone, Default)]
pub(crate) struct Dedicated(Arc<Mutex<Option<PoolConnection<Postgres>>>>);

impl Dedicated {
    /// Runs an operation on the connection, within the client-side limit.
    ///
    /// Concurrent operations follow each other.
    pub(crate) async fn run<T>(
        &self,
        pool: &PgPool,
        operation: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let mut slot = self.0.lock().await;
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => pool.acquire().await?,
        };
        let Ok(result) = timeout(OPERATION, operation(&mut connection)).await else {
            connection.close_on_drop();
            return Err(give_up(OPERATION));
        };
        let is_usable = !matches!(&result, Err(error) if error.kind() == DatabaseErrorKind::Unavailable);
        if !is_usable {
            connection.close_on_drop();
        } else if pool.options().get_max_connections() >= SPARE {
            *slot = Some(connection);
        }
        result
    }
}
