//! Figures of the console.

use std::time::SystemTime;

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{self, Connection, OptionalExtension, Row, params};

use super::rows;
use crate::desk::figures::{EVENTS_SEARCHED, FAMILIES_SHOWN, FamilyRow, HOUR};
use crate::desk::{DeskError, EventSeen, FamilySeen, HourOfAttempts, HourOfCharges};
use crate::domain::ChargeId;
use webhook_core::sender::EndpointId;

pub(super) const BY_STATUS: &str = "SELECT status, COUNT(*) FROM charge GROUP BY status";
pub(super) const REFUNDS_BY_STATUS: &str = "SELECT status, COUNT(*) FROM refund GROUP BY status";
pub(super) const BY_STATE: &str = "SELECT state, COUNT(*) FROM webhook_delivery GROUP BY state";

pub(super) fn by_hour(connection: &Connection, from: SystemTime) -> Result<Vec<HourOfCharges>, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT (created - ?1) / ?2, currency, COUNT(*), SUM(amount) FROM charge \
         WHERE created >= ?1 GROUP BY 1, 2 ORDER BY 1, 2",
    )?;
    let found = query.query_map(params![Time(from), HOUR], |row| {
        let currency = rows::parsed(row, 1)?;
        Ok(HourOfCharges::new(
            row.get(0)?,
            currency,
            number(row, 2)?,
            number(row, 3)?,
        ))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Reads the names and counts of [`BY_STATUS`], [`REFUNDS_BY_STATUS`] or [`BY_STATE`].
pub(super) fn counts(connection: &Connection, sql: &str) -> Result<Vec<(String, u64)>, DeskError> {
    let mut query = connection.prepare_cached(sql)?;
    let found = query.query_map([], |row| Ok((row.get(0)?, number(row, 1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn attempts_by_hour(
    connection: &Connection,
    endpoint: &EndpointId,
    from: SystemTime,
) -> Result<Vec<HourOfAttempts>, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT (started_at - ?2) / ?3, COUNT(*) FILTER (WHERE status BETWEEN 200 AND 299), COUNT(*) \
         FROM webhook_attempt WHERE endpoint = ?1 AND started_at >= ?2 GROUP BY 1 ORDER BY 1",
    )?;
    let found = query.query_map(params![endpoint.as_str(), Time(from), HOUR], |row| {
        let (acknowledged, all) = (number(row, 1)?, number(row, 2)?);
        Ok(HourOfAttempts::new(row.get(0)?, acknowledged, all - acknowledged))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn failed_deliveries(connection: &Connection) -> Result<u64, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT COUNT(*) FROM webhook_delivery WHERE state IN ('permanent_failure', 'dead_letter')",
    )?;
    Ok(query.query_row([], |row| number(row, 0))?)
}

pub(super) fn oldest_unfinished(connection: &Connection) -> Result<Option<SystemTime>, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT MIN(started_at) FROM webhook_delivery WHERE state IN ('ready', 'retry_scheduled', 'leased')",
    )?;
    let oldest: Option<Time> = query.query_row([], |row| row.get(0))?;
    Ok(oldest.map(|Time(oldest)| oldest))
}

pub(super) fn events_of(
    connection: &Connection,
    charge: &ChargeId,
    from: SystemTime,
) -> Result<Vec<EventSeen>, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT id, event_type, created_at, body FROM (SELECT id, event_type, created_at, body \
         FROM webhook_event WHERE created_at >= ?1 ORDER BY created_at, id LIMIT ?3) \
         WHERE instr(body, ?2) > 0 ORDER BY created_at, id LIMIT 50",
    )?;
    let name = charge.as_str().as_bytes();
    let found = query.query_map(params![Time(from), name, EVENTS_SEARCHED], read_event)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn event(connection: &Connection, id: &str) -> Result<Option<EventSeen>, DeskError> {
    let mut query = connection
        .prepare_cached("SELECT id, event_type, created_at, body FROM webhook_event WHERE id = ?1")?;
    Ok(query.query_row([id], read_event).optional()?)
}

pub(super) fn families_of(connection: &Connection, subject: &str) -> Result<Vec<FamilySeen>, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT family.record, family.revocation, token.record, token.rotated_at IS NOT NULL \
         FROM (SELECT id, record, revocation, expires_at FROM oauth_family WHERE subject = ?1 \
               ORDER BY expires_at DESC, id LIMIT ?2) AS family \
         LEFT JOIN oauth_refresh_token AS token ON token.family = family.id \
         ORDER BY family.expires_at DESC, family.id",
    )?;
    let mut found = query.query(params![subject, FAMILIES_SHOWN])?;
    let mut families = Vec::new();
    while let Some(row) = found.next()? {
        let row_of_family = FamilyRow {
            family: row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?,
            revocation: row.get_ref(1)?.as_str_or_null().map_err(rusqlite::Error::from)?,
            token: row.get_ref(2)?.as_str_or_null().map_err(rusqlite::Error::from)?,
            is_rotated: row.get(3)?,
        };
        let added = row_of_family.add_to(&mut families);
        added.ok_or_else(|| rows::unreadable(0))?;
    }
    Ok(families)
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<EventSeen> {
    let Time(created_at) = row.get(2)?;
    let body: Option<Vec<u8>> = row.get(3)?;
    Ok(EventSeen::new(
        row.get(0)?,
        row.get(1)?,
        created_at,
        body.unwrap_or_default(),
    ))
}

/// A count or a sum, which is not negative.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|_| rows::unreadable(column))
}
