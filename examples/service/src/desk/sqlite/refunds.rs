//! Rows of refunds.

use std::time::SystemTime;

use host_store_sqlite::column::Time;
use host_store_sqlite::outbox;
use host_store_sqlite::rusqlite::{Connection, OptionalExtension, Transaction, params};
use webhook_core::sender::TraceParent;

use super::{charges, rows};
use crate::desk::events::{EventKind, event};
use crate::desk::store::Booked;
use crate::desk::{DeskError, Placed, RefundFilter, RefundSeen, Window};
use crate::domain::{ChargeId, Refund, RefundId, RefundStatus};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    refund: &Refund,
    trace: Option<TraceParent>,
) -> Result<(), DeskError> {
    transaction
        .prepare_cached(
            "INSERT INTO refund (id, charge, amount, status, created, trace) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            refund.id.as_str(),
            refund.charge.as_str(),
            refund.amount.units(),
            refund.status.as_str(),
            Time(refund.created),
            trace.map(|trace| trace.to_string()),
        ])?;
    Ok(())
}

pub(super) fn load(
    connection: &Connection,
    charge: &ChargeId,
    id: &RefundId,
) -> Result<Option<Refund>, DeskError> {
    let sql = format!(
        "SELECT {} FROM refund WHERE id = ?1 AND charge = ?2",
        rows::REFUND
    );
    let mut query = connection.prepare_cached(&sql)?;
    let found = query
        .query_row([id.as_str(), charge.as_str()], rows::refund)
        .optional()?;
    Ok(found.map(|placed| placed.row))
}

pub(super) fn select(
    connection: &Connection,
    charge: &ChargeId,
    window: Window,
) -> Result<Vec<Placed<Refund>>, DeskError> {
    let (side, from, order) = window.bounds();
    let sql = format!(
        "SELECT {} FROM refund WHERE charge = ?1 AND position {side} ?2 ORDER BY position {order} LIMIT ?3",
        rows::REFUND
    );
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_map(params![charge.as_str(), from, window.limit()], rows::refund)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Reads the refunds of all charges in `window` that match `filter`.
pub(super) fn select_all(
    connection: &Connection,
    filter: &RefundFilter,
    window: Window,
) -> Result<Vec<Placed<RefundSeen>>, DeskError> {
    let (side, from, order) = window.bounds();
    // one condition per filter, so that SQLite can use its index
    let condition = |is_set: bool, column: &str, number: usize| match is_set {
        true => format!("refund.{column} = ?{number}"),
        false => format!("?{number} IS NULL"),
    };
    let by_status = condition(filter.status.is_some(), "status", 2);
    let by_charge = condition(filter.charge.is_some(), "charge", 3);
    let by_id = condition(filter.id.is_some(), "id", 4);
    let sql = format!(
        "SELECT {} FROM refund JOIN charge ON charge.id = refund.charge \
         WHERE refund.position {side} ?1 AND {by_status} AND {by_charge} AND {by_id} \
         ORDER BY refund.position {order} LIMIT ?5",
        rows::REFUND_SEEN
    );
    let status = filter.status.map(RefundStatus::as_str);
    let charge = filter.charge.as_ref().map(ChargeId::as_str);
    let id = filter.id.as_ref().map(RefundId::as_str);
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_map(
        params![from, status, charge, id, window.limit()],
        rows::refund_seen,
    )?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn book(transaction: &Transaction<'_>, limit: u32, now: SystemTime) -> Result<Booked, DeskError> {
    let sql = format!(
        "SELECT {}, trace FROM refund WHERE status = 'pending' ORDER BY position LIMIT ?1",
        rows::REFUND
    );
    let pending: Vec<(Refund, Option<String>)> = transaction
        .prepare_cached(&sql)?
        .query_map([limit], |row| Ok((rows::refund(row)?.row, row.get("trace").ok())))?
        .collect::<Result<_, _>>()?;
    let mut booked = Booked::default();
    for (refund, trace) in pending {
        let charge = charges::load(transaction, &refund.charge)?.ok_or(DeskError::NotFound)?;
        let (refund, charge) = refund.book(charge);
        transaction
            .prepare_cached("UPDATE refund SET status = ?2 WHERE id = ?1")?
            .execute([refund.id.as_str(), refund.status.as_str()])?;
        booked.refunds += 1;
        if let Some(charge) = charge {
            if !charges::update(transaction, &charge)? {
                return Err(DeskError::Changed);
            }
            let trace = trace.and_then(|trace| trace.parse().ok());
            let event = event(EventKind::ChargeRefunded, &charge, now).in_trace(trace);
            outbox::send_in(transaction, event, now)?;
            booked.changed.push(charge);
        }
    }
    Ok(booked)
}
