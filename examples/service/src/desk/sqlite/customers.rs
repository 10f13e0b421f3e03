//! Rows of customers.

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{Connection, OptionalExtension, Transaction};

use super::rows;
use crate::desk::{DeskError, PartialCustomer, Placed, Window};
use crate::domain::{Customer, CustomerId};

pub(super) fn insert(transaction: &Transaction<'_>, customer: &Customer) -> Result<(), DeskError> {
    transaction
        .prepare_cached("INSERT INTO customer (id, name, created) VALUES (?1, ?2, ?3)")?
        .execute((customer.id.as_str(), &customer.name, Time(customer.created)))?;
    Ok(())
}

pub(super) fn load(connection: &Connection, id: &CustomerId) -> Result<Option<Customer>, DeskError> {
    let sql = format!("SELECT {} FROM customer WHERE id = ?1", rows::CUSTOMER);
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_row([id.as_str()], rows::customer).optional()?;
    Ok(found.map(|placed| placed.row))
}

pub(super) fn select(connection: &Connection, window: Window) -> Result<Vec<Placed<Customer>>, DeskError> {
    let (side, from, order) = window.bounds();
    let sql = format!(
        "SELECT {} FROM customer WHERE position {side} ?1 ORDER BY position {order} LIMIT ?2",
        rows::CUSTOMER
    );
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_map((from, window.limit()), rows::customer)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn select_by_ids(
    connection: &Connection,
    ids: &[CustomerId],
    with_name: bool,
) -> Result<Vec<PartialCustomer>, DeskError> {
    let columns = if with_name { "id, name" } else { "id, NULL" };
    let sql = format!("SELECT {columns} FROM customer WHERE id IN (SELECT value FROM json_each(?1))");
    // identifiers contain no character that JSON escapes
    let ids: Vec<_> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    let ids = format!("[{}]", ids.join(","));
    let mut query = connection.prepare_cached(&sql)?;
    let found = query.query_map([ids], |row| {
        Ok(PartialCustomer {
            id: rows::parsed(row, 0)?,
            name: row.get(1)?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}
