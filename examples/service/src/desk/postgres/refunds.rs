//! Rows of refunds.

use std::time::SystemTime;

use host_store_postgres::outbox;
use host_store_postgres::sqlx::{self, AssertSqlSafe, PgExecutor, Postgres, Row, Transaction};
use webhook_core::sender::TraceParent;

use super::charges;
use super::rows::{self, nanoseconds};
use crate::desk::events::{EventKind, event};
use crate::desk::store::Booked;
use crate::desk::{DeskError, Placed, RefundFilter, RefundSeen, Window};
use crate::domain::{ChargeId, Refund, RefundId, RefundStatus};

pub(super) async fn insert(
    executor: impl PgExecutor<'_>,
    refund: &Refund,
    trace: Option<TraceParent>,
) -> Result<(), DeskError> {
    let insert =
        "INSERT INTO refund (id, charge, amount, status, created, trace) VALUES ($1, $2, $3, $4, $5, $6)";
    sqlx::query(insert)
        .bind(refund.id.as_str())
        .bind(refund.charge.as_str())
        .bind(i64::from(refund.amount.units()))
        .bind(refund.status.as_str())
        .bind(nanoseconds(refund.created))
        .bind(trace.map(|trace| trace.to_string()))
        .execute(executor)
        .await?;
    Ok(())
}

pub(super) async fn load(
    executor: impl PgExecutor<'_>,
    charge: &ChargeId,
    id: &RefundId,
) -> Result<Option<Refund>, DeskError> {
    let sql = format!(
        "SELECT {} FROM refund WHERE id = $1 AND charge = $2",
        rows::REFUND
    );
    let query = sqlx::query(AssertSqlSafe(sql))
        .bind(id.as_str())
        .bind(charge.as_str());
    let found = query.fetch_optional(executor).await?;
    let found = found.map(|row| rows::refund(&row)).transpose()?;
    Ok(found.map(|placed| placed.row))
}

pub(super) async fn select(
    executor: impl PgExecutor<'_>,
    charge: &ChargeId,
    window: Window,
) -> Result<Vec<Placed<Refund>>, DeskError> {
    let (side, from, order) = window.bounds();
    let sql = format!(
        "SELECT {} FROM refund WHERE charge = $1 AND position {side} $2 ORDER BY position {order} LIMIT $3",
        rows::REFUND
    );
    let found = sqlx::query(AssertSqlSafe(sql))
        .bind(charge.as_str())
        .bind(from)
        .bind(window.limit())
        .fetch_all(executor)
        .await?;
    Ok(found.iter().map(rows::refund).collect::<Result<_, _>>()?)
}

/// Reads the refunds of all charges in `window` that match `filter`.
pub(super) async fn select_all(
    executor: impl PgExecutor<'_>,
    filter: &RefundFilter,
    window: Window,
) -> Result<Vec<Placed<RefundSeen>>, DeskError> {
    let (side, from, order) = window.bounds();
    // one condition per filter, so that a generic plan can use its index
    let condition = |is_set: bool, column: &str, number: usize| match is_set {
        true => format!("refund.{column} = ${number}"),
        false => format!("${number}::text IS NULL"),
    };
    let by_status = condition(filter.status.is_some(), "status", 2);
    let by_charge = condition(filter.charge.is_some(), "charge", 3);
    let by_id = condition(filter.id.is_some(), "id", 4);
    let sql = format!(
        "SELECT {} FROM refund JOIN charge ON charge.id = refund.charge \
         WHERE refund.position {side} $1 AND {by_status} AND {by_charge} AND {by_id} \
         ORDER BY refund.position {order} LIMIT $5",
        rows::REFUND_SEEN
    );
    let found = sqlx::query(AssertSqlSafe(sql))
        .bind(from)
        .bind(filter.status.map(RefundStatus::as_str))
        .bind(filter.charge.as_ref().map(ChargeId::as_str))
        .bind(filter.id.as_ref().map(RefundId::as_str))
        .bind(window.limit())
        .fetch_all(executor)
        .await?;
    Ok(found.iter().map(rows::refund_seen).collect::<Result<_, _>>()?)
}

/// Books refunds. One process books at a time, so that two transactions lock charges in no
/// opposite order.
pub(super) async fn book(
    transaction: &mut Transaction<'_, Postgres>,
    limit: u32,
    now: SystemTime,
) -> Result<Booked, DeskError> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtext('desk/refunds'), hashtext(current_schema()))")
        .execute(&mut **transaction)
        .await?;
    let sql = format!(
        "SELECT {}, trace FROM refund WHERE status = 'pending' ORDER BY position LIMIT $1",
        rows::REFUND
    );
    let pending = sqlx::query(AssertSqlSafe(sql))
        .bind(i64::from(limit))
        .fetch_all(&mut **transaction)
        .await?;
    let mut booked = Booked::default();
    for row in &pending {
        let (refund, trace): (_, Option<String>) = (rows::refund(row)?.row, row.try_get("trace")?);
        let charge = charges::lock(transaction, &refund.charge).await?;
        let (refund, charge) = refund.book(charge);
        sqlx::query("UPDATE refund SET status = $2 WHERE id = $1")
            .bind(refund.id.as_str())
            .bind(refund.status.as_str())
            .execute(&mut **transaction)
            .await?;
        booked.refunds += 1;
        if let Some(charge) = charge {
            if !charges::update(&mut **transaction, &charge).await? {
                return Err(DeskError::Changed);
            }
            let trace = trace.and_then(|trace| trace.parse().ok());
            let event = event(EventKind::ChargeRefunded, &charge, now).in_trace(trace);
            outbox::send_in(transaction, event, now).await?;
            booked.changed.push(charge);
        }
    }
    Ok(booked)
}
