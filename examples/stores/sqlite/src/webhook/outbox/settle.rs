//! Settles leases with their outcomes (W11), and logs the attempts (W18).

use bytes::Bytes;
use http::StatusCode;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Row, Transaction};
use webhook_core::sender::{Attempt, AttemptResult, DeliveryId, Receipt, Settled, Settlement};

use super::{delivery, lane};
use crate::column::{Number, Span, Term, Time};
use crate::database::DatabaseError;

pub(super) fn settle(
    transaction: &Transaction<'_>,
    settlement: &Settlement,
) -> Result<Receipt, DatabaseError> {
    let Some(mut delivery) = delivery::load(transaction, &settlement.delivery)? else {
        return Ok(Receipt {
            settled: Settled::Unknown,
            health: None,
        });
    };
    let settled = delivery.settle(settlement);
    if matches!(settled, Settled::Applied | Settled::Late) {
        delivery::update(transaction, &delivery)?;
    }
    let endpoint = &delivery.id.endpoint;
    let before = lane::load(transaction, endpoint)?.unwrap_or_default();
    let mut after = before;
    let health = after.settle(settlement, settled);
    if after != before {
        lane::update(transaction, endpoint, &after)?;
    }
    if let Some(attempt) = &settlement.attempt {
        log(transaction, attempt)?;
    }
    Ok(Receipt { settled, health })
}

fn log(transaction: &Transaction<'_>, attempt: &Attempt) -> Result<(), DatabaseError> {
    let (status, body, failure, message) = match &attempt.result {
        AttemptResult::Answered { status, body } => (Some(status.as_u16()), Some(&body[..]), None, None),
        AttemptResult::Failed { kind, message } => (None, None, Some(kind.as_str()), Some(message)),
    };
    let mut statement = transaction.prepare_cached(
        "INSERT INTO webhook_attempt (event, endpoint, fence, started_at, duration, status, body, failure, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
    )?;
    let id = &attempt.delivery;
    statement.execute((
        id.event.as_str(),
        id.endpoint.as_str(),
        Number(attempt.fence),
        Time(attempt.started_at),
        Span(attempt.duration),
        status,
        body,
        failure,
        message,
    ))?;
    Ok(())
}

pub(super) fn attempts(
    connection: &Connection,
    delivery: &DeliveryId,
) -> Result<Vec<Attempt>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT fence, started_at, duration, status, body, failure, message
         FROM webhook_attempt WHERE event = ?1 AND endpoint = ?2 ORDER BY fence",
    )?;
    let attempts = statement.query_map([delivery.event.as_str(), delivery.endpoint.as_str()], |row| {
        let (Number(fence), Time(started_at), Span(duration)) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Attempt {
            delivery: delivery.clone(),
            fence,
            started_at,
            duration,
            result: result(row)?,
        })
    })?;
    Ok(attempts.collect::<Result<_, _>>()?)
}

fn result(row: &Row<'_>) -> rusqlite::Result<AttemptResult> {
    if let Some(Term(kind)) = row.get(5)? {
        return Ok(AttemptResult::Failed {
            kind,
            message: row.get(6)?,
        });
    }
    let status: u16 = row.get(3)?;
    let status = StatusCode::from_u16(status).map_err(FromSqlError::other)?;
    Ok(AttemptResult::Answered {
        status,
        body: Bytes::from(row.get::<_, Vec<u8>>(4)?),
    })
}
