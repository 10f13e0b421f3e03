//! Size and age of the work that is due, for the metrics of a host.

use std::time::SystemTime;

use sqlx::PgExecutor;

use crate::column::{nanoseconds, number, time};
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

/// Counts the deliveries that are due at `now`.
///
/// # Performance
///
/// The query reads the deliveries that are not settled.
///
/// # Errors
///
/// [`DatabaseError`] if the query fails.
pub async fn backlog(executor: impl PgExecutor<'_>, now: SystemTime) -> Result<Backlog, DatabaseError> {
    let query = "SELECT count(*), min(due_at) FROM webhook_ready WHERE due_at <= $1";
    let (deliveries, oldest): (i64, Option<i64>) = sqlx::query_as(query)
        .bind(nanoseconds(now))
        .fetch_one(executor)
        .await?;
    Ok(Backlog {
        deliveries: number(deliveries)?,
        oldest: oldest.map(time).transpose()?,
    })
}
