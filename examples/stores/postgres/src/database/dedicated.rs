//! A connection for one purpose: it is not returned to the pool between its operations.
//!
//! It saves the ping of each release, and other operations cannot use it up.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::limits::give_up;
use super::{DatabaseError, DatabaseErrorKind};

/// Number of connections that a pool must have before one of them is kept.
const SPARE: u32 = 6;

#[derive(Clone, Default)]
pub(crate) struct Dedicated(Arc<Mutex<Option<PoolConnection<Postgres>>>>);

impl Dedicated {
    /// Returns the connection to the pool, unless an operation uses it.
    pub(super) fn release(&self) {
        if let Ok(mut slot) = self.0.try_lock() {
            drop(slot.take());
        }
    }

    /// Runs an operation on the connection, within `limit` from this call to its end.
    ///
    /// Concurrent operations follow each other.
    pub(crate) async fn run<T>(
        &self,
        pool: &PgPool,
        limit: Duration,
        operation: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let deadline = Instant::now() + limit;
        let Ok(mut slot) = timeout_at(deadline, self.0.lock()).await else {
            return Err(give_up(limit));
        };
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => match timeout_at(deadline, pool.acquire()).await {
                Ok(acquired) => acquired?,
                Err(_elapsed) => return Err(give_up(limit)),
            },
        };
        let Ok(result) = timeout_at(deadline, operation(&mut connection)).await else {
            connection.close_on_drop();
            return Err(give_up(limit));
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
