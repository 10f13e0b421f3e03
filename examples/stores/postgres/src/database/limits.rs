//! Client-side time limits: a connection whose peer does not respond is dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, Error};
use tokio::time::timeout;

use super::{DatabaseError, DatabaseErrorKind};

/// Limit of an operation, from the request for a connection to the commit. It is below the limit
/// of the dispatcher, so that the connection is free when the dispatcher tries again.
pub(crate) const OPERATION: Duration = Duration::from_secs(15);

/// Limit of a heartbeat: shorter than the patience of the dispatcher, so that the next one finds a
/// connection that works.
#[cfg(feature = "webhooks")]
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(2_500);

/// Limit of an operation on many rows, such as a replay or a purge.
pub(super) const LONG_OPERATION: Duration = Duration::from_secs(600);

/// Limit of connections of one process.
const CONNECTIONS: u32 = 10;

/// Timeout for a free connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limit of a ping. Ten connections that a network has cut silently are found within the timeout
/// for a free connection.
const PING: Duration = Duration::from_millis(900);

/// Time without use after which a connection is tested before it is used.
const IDLE: Duration = Duration::from_secs(1);

/// Time after an operation was given up in which released connections are tested.
const SUSPICION: Duration = Duration::from_secs(60);

/// Seconds since the first call, plus one, at which an operation was given up; 0 for never.
static GIVEN_UP: AtomicU64 = AtomicU64::new(0);

/// Settings of the pools that [`Database::connect`](super::Database::connect) opens.
pub(super) fn pool_options() -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for >= IDLE {
                    ping(connection).await?;
                }
                Ok(true)
            })
        })
        .after_release(|connection, _| {
            Box::pin(async move {
                // an operation that was given up leaves a connection that may never respond
                if has_given_up_recently() {
                    ping(connection).await?;
                }
                Ok(true)
            })
        })
}

async fn ping(connection: &mut sqlx::PgConnection) -> Result<(), Error> {
    match timeout(PING, connection.ping()).await {
        Ok(pinged) => pinged,
        Err(_elapsed) => Err(Error::PoolTimedOut),
    }
}

fn has_given_up_recently() -> bool {
    match GIVEN_UP.load(Ordering::Relaxed) {
        0 => false,
        at => seconds().saturating_sub(at) <= SUSPICION.as_secs(),
    }
}

/// Seconds since the first call, plus one.
fn seconds() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs() + 1
}

/// Error of an operation that was given up.
pub(super) fn give_up(limit: Duration) -> DatabaseError {
    GIVEN_UP.store(seconds(), Ordering::Relaxed);
    let reason = format!("the server did not respond within {} s", limit.as_secs());
    DatabaseError::new(DatabaseErrorKind::Unavailable, reason)
}
