//! Rows of charges.

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{self, Connection, OptionalExtension, Row, Transaction, params};

use super::rows;
use crate::desk::{ChargeFilter, DeskError, Placed, Window};
use crate::domain::{Charge, ChargeId, ChargeStatus, CustomerId, Fault};

pub(super) fn load(connection: &Connection, id: &ChargeId) -> Result<Option<Charge>, DeskError> {
    select_one(connection, rows::CHARGE, id, rows::charge)
}

/// Reads `columns` of a charge; `read` reads the row.
pub(super) fn select_one<T>(
    connection: &Connection,
    columns: &str,
    id: &ChargeId,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Placed<T>>,
) -> Result<Option<T>, DeskError> {
    let sql = format!("SELECT {columns} FROM charge WHERE id = ?1");
    let found = connection
        .prepare_cached(&sql)?
        .query_row([id.as_str()], |row| read(row))
        .optional()?;
    Ok(found.map(|placed| placed.row))
}

/// Reads `columns` of the charges in `window` that match `filter`; `read` reads a row.
pub(super) fn select<T>(
    connection: &Connection,
    columns: &str,
    filter: &ChargeFilter,
    window: Window,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Placed<T>>,
) -> Result<Vec<Placed<T>>, DeskError> {
    let (side, from, order) = window.bounds();
    // one condition per filter, so that SQLite can use its index
    let by_status = if filter.status.is_some() {
        "status = ?2"
    } else {
        "?2 IS NULL"
    };
    let by_customer = if filter.customer.is_some() {
        "customer = ?3"
    } else {
        "?3 IS NULL"
    };
    let sql = format!(
        "SELECT {columns} FROM charge WHERE position {side} ?1 AND {by_status} AND {by_customer} \
         ORDER BY position {order} LIMIT ?4",
    );
    let status = filter.status.map(ChargeStatus::as_str);
    let customer = filter.customer.as_ref().map(CustomerId::as_str);
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_map(params![from, status, customer, window.limit()], |row| read(row))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn insert(transaction: &Transaction<'_>, charge: &Charge) -> Result<(), DeskError> {
    let customer = charge.customer.as_ref().map(CustomerId::as_str);
    if let Some(customer) = customer {
        let mut known = transaction.prepare_cached("SELECT 1 FROM customer WHERE id = ?1")?;
        if !known.exists([customer])? {
            return Err(DeskError::Faulty(vec![Fault::UNKNOWN_CUSTOMER]));
        }
    }
    transaction
        .prepare_cached(
            "INSERT INTO charge (id, customer, amount, currency, description, amount_refunded, status, version, created) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            charge.id.as_str(),
            customer,
            charge.amount.units(),
            charge.currency.as_str(),
            charge.description,
            charge.amount_refunded,
            charge.status().as_str(),
            charge.version,
            Time(charge.created),
        ])?;
    Ok(())
}

/// Writes the mutable columns of a charge. Returns `false` if the stored version is not the
/// preceding one.
pub(super) fn update(transaction: &Transaction<'_>, charge: &Charge) -> Result<bool, DeskError> {
    let written = transaction
        .prepare_cached(
            "UPDATE charge SET description = ?3, amount_refunded = ?4, status = ?5, version = ?2 \
             WHERE id = ?1 AND version = ?2 - 1",
        )?
        .execute(params![
            charge.id.as_str(),
            charge.version,
            charge.description,
            charge.amount_refunded,
            charge.status().as_str(),
        ])?;
    Ok(written == 1)
}
