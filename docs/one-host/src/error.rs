//! Conversion of the driver's errors.

use host_ports::StoreError;

/// Converts an error of the driver for every store port of the host.
#[must_use]
pub fn store_error(error: sqlx::Error) -> StoreError {
    let is_transient = match &error {
        // classes of SQLSTATE: connection, rollback, resources, locks, shutdown, system
        sqlx::Error::Database(refused) => refused
            .code()
            .is_some_and(|code| matches!(code.get(..2), Some("08" | "40" | "53" | "55" | "57" | "58"))),
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => true,
        _ => false,
    };
    if is_transient {
        StoreError::unavailable(error)
    } else {
        StoreError::corrupt(error)
    }
}
