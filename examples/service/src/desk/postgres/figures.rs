//! Figures of the console.

use std::time::SystemTime;

use host_store_postgres::sqlx::postgres::PgRow;
use host_store_postgres::sqlx::{self, Error, PgExecutor, Row};

use super::rows::{self, nanoseconds, unreadable};
use crate::desk::figures::{EVENTS_SEARCHED, FAMILIES_SHOWN, FamilyRow, HOUR};
use crate::desk::{DeskError, EventSeen, FamilySeen, HourOfAttempts, HourOfCharges};
use crate::domain::ChargeId;
use webhook_core::sender::EndpointId;

pub(super) const BY_STATUS: &str = "SELECT status, COUNT(*) FROM charge GROUP BY status";
pub(super) const REFUNDS_BY_STATUS: &str = "SELECT status, COUNT(*) FROM refund GROUP BY status";
pub(super) const BY_STATE: &str = "SELECT state, COUNT(*) FROM webhook_delivery GROUP BY state";

pub(super) async fn by_hour(
    executor: impl PgExecutor<'_>,
    from: SystemTime,
) -> Result<Vec<HourOfCharges>, DeskError> {
    let query = sqlx::query(
        "SELECT (created - $1) / $2, currency, COUNT(*), SUM(amount)::BIGINT FROM charge \
         WHERE created >= $1 GROUP BY 1, 2 ORDER BY 1, 2",
    );
    let query = query.bind(nanoseconds(from)).bind(HOUR);
    let found = query.fetch_all(executor).await?;
    let read = found.iter().map(|row| {
        let (hour, currency) = (rows::number(row, 0)?, rows::parsed(row, 1)?);
        Ok(HourOfCharges::new(hour, currency, total(row, 2)?, total(row, 3)?))
    });
    Ok(read.collect::<Result<_, Error>>()?)
}

/// Reads the names and counts of [`BY_STATUS`], [`REFUNDS_BY_STATUS`] or [`BY_STATE`].
pub(super) async fn counts(
    executor: impl PgExecutor<'_>,
    sql: &'static str,
) -> Result<Vec<(String, u64)>, DeskError> {
    let found = sqlx::query(sql).fetch_all(executor).await?;
    let read = found.iter().map(|row| Ok((row.try_get(0)?, total(row, 1)?)));
    Ok(read.collect::<Result<_, Error>>()?)
}

pub(super) async fn attempts_by_hour(
    executor: impl PgExecutor<'_>,
    endpoint: &EndpointId,
    from: SystemTime,
) -> Result<Vec<HourOfAttempts>, DeskError> {
    let query = sqlx::query(
        "SELECT (started_at - $2) / $3, COUNT(*) FILTER (WHERE status BETWEEN 200 AND 299), COUNT(*) \
         FROM webhook_attempt WHERE endpoint = $1 AND started_at >= $2 GROUP BY 1 ORDER BY 1",
    );
    let query = query.bind(endpoint.as_str()).bind(nanoseconds(from)).bind(HOUR);
    let found = query.fetch_all(executor).await?;
    let read = found.iter().map(|row| {
        let (acknowledged, all) = (total(row, 1)?, total(row, 2)?);
        Ok(HourOfAttempts::new(
            rows::number(row, 0)?,
            acknowledged,
            all - acknowledged,
        ))
    });
    Ok(read.collect::<Result<_, Error>>()?)
}

pub(super) async fn failed_deliveries(executor: impl PgExecutor<'_>) -> Result<u64, DeskError> {
    // only finished deliveries have these states, and a partial index holds them
    let sql = "SELECT COUNT(*) FROM webhook_finished WHERE state IN ('permanent_failure', 'dead_letter')";
    let row = sqlx::query(sql).fetch_one(executor).await?;
    Ok(total(&row, 0)?)
}

pub(super) async fn oldest_unfinished(
    executor: impl PgExecutor<'_>,
) -> Result<Option<SystemTime>, DeskError> {
    let query = sqlx::query("SELECT started_at FROM webhook_ready ORDER BY started_at LIMIT 1");
    let oldest = query.fetch_optional(executor).await?;
    Ok(oldest.map(|row| rows::time(&row, 0)).transpose()?)
}

pub(super) async fn events_of(
    executor: impl PgExecutor<'_>,
    charge: &ChargeId,
    from: SystemTime,
) -> Result<Vec<EventSeen>, DeskError> {
    let query = sqlx::query(
        "SELECT id, event_type, created_at, body FROM (SELECT id, event_type, created_at, body \
         FROM webhook_event WHERE created_at >= $1 ORDER BY created_at, id LIMIT $3) AS searched \
         WHERE position($2::BYTEA IN body) > 0 ORDER BY created_at, id LIMIT 50",
    );
    let query = query
        .bind(nanoseconds(from))
        .bind(charge.as_str().as_bytes())
        .bind(i64::from(EVENTS_SEARCHED));
    let found = query.fetch_all(executor).await?;
    Ok(found.iter().map(read_event).collect::<Result<_, _>>()?)
}

pub(super) async fn event(executor: impl PgExecutor<'_>, id: &str) -> Result<Option<EventSeen>, DeskError> {
    let query =
        sqlx::query("SELECT id, event_type, created_at, body FROM webhook_event WHERE id = $1").bind(id);
    let found = query.fetch_optional(executor).await?;
    Ok(found.as_ref().map(read_event).transpose()?)
}

pub(super) async fn families_of(
    executor: impl PgExecutor<'_>,
    subject: &str,
) -> Result<Vec<FamilySeen>, DeskError> {
    let query = sqlx::query(
        "SELECT family.record, family.revocation, token.record, token.rotated_at IS NOT NULL \
         FROM (SELECT id, record, revocation, expires_at FROM oauth_family WHERE subject = $1 \
               ORDER BY expires_at DESC, id LIMIT $2) AS family \
         LEFT JOIN oauth_refresh_token AS token ON token.family = family.id \
         ORDER BY family.expires_at DESC, family.id",
    );
    let query = query.bind(subject).bind(i64::from(FAMILIES_SHOWN));
    let mut families = Vec::new();
    for row in query.fetch_all(executor).await? {
        let row_of_family = FamilyRow {
            family: row.try_get(0)?,
            revocation: row.try_get(1)?,
            token: row.try_get(2)?,
            is_rotated: row.try_get(3)?,
        };
        let added = row_of_family.add_to(&mut families);
        added.ok_or_else(|| unreadable(0))?;
    }
    Ok(families)
}

fn read_event(row: &PgRow) -> Result<EventSeen, Error> {
    let body: Option<Vec<u8>> = row.try_get(3)?;
    let created_at = rows::time(row, 2)?;
    Ok(EventSeen::new(
        row.try_get(0)?,
        row.try_get(1)?,
        created_at,
        body.unwrap_or_default(),
    ))
}

/// A count or a sum, which is not negative.
fn total(row: &PgRow, column: usize) -> Result<u64, Error> {
    let total: i64 = row.try_get(column)?;
    total.try_into().map_err(|_| unreadable(column))
}
