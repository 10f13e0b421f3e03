//! Size and age of the work that is due, for the metrics of a host.

use std::time::SystemTime;

use rusqlite::Connection;

use crate::column::Time;
use crate::database::DatabaseError;

/// Deliveries that are due and not settled: also those whose lease has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Backlog {
    /// Number of the deliveries.
    pub deliveries: u64,
    /// Time at which the oldest of them became due.
    pub oldest: Option<SystemTime>,
}

/// Counts the deliveries that are due at `now`, in a [`read`](crate::Database::read).
///
/// # Performance
///
/// The query reads an index of the deliveries that are not settled.
///
/// # Errors
///
/// [`DatabaseError`] if the query fails.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), host_store_sqlite::DatabaseError> {
/// use std::time::SystemTime;
/// use host_store_sqlite::{Database, outbox};
///
/// let (database, now) = (Database::open_in_memory()?, SystemTime::now());
/// let backlog = database.read(move |connection| outbox::backlog(connection, now)).await?;
/// assert_eq!((backlog.deliveries, backlog.oldest), (0, None));
/// # Ok(())
/// # }
/// ```
pub fn backlog(connection: &Connection, now: SystemTime) -> Result<Backlog, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*), min(due_at) FROM webhook_delivery INDEXED BY webhook_delivery_live
         WHERE state IN ('ready', 'retry_scheduled', 'leased') AND due_at <= ?1",
    )?;
    let backlog = statement.query_row([Time(now)], |row| {
        let oldest: Option<Time> = row.get(1)?;
        Ok(Backlog {
            deliveries: u64::from(row.get::<_, u32>(0)?),
            oldest: oldest.map(|Time(at)| at),
        })
    });
    Ok(backlog?)
}
