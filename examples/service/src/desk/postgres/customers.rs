//! Rows of customers.

use host_store_postgres::sqlx::{self, AssertSqlSafe, PgExecutor, Row};

use super::rows::{self, nanoseconds};
use crate::desk::{DeskError, PartialCustomer, Placed, Window};
use crate::domain::{Customer, CustomerId};

pub(super) async fn insert(executor: impl PgExecutor<'_>, customer: &Customer) -> Result<(), DeskError> {
    sqlx::query("INSERT INTO customer (id, name, created) VALUES ($1, $2, $3)")
        .bind(customer.id.as_str())
        .bind(&customer.name)
        .bind(nanoseconds(customer.created))
        .execute(executor)
        .await?;
    Ok(())
}

pub(super) async fn load(
    executor: impl PgExecutor<'_>,
    id: &CustomerId,
) -> Result<Option<Customer>, DeskError> {
    let sql = format!("SELECT {} FROM customer WHERE id = $1", rows::CUSTOMER);
    let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str());
    let found = query.fetch_optional(executor).await?;
    let found = found.map(|row| rows::customer(&row)).transpose()?;
    Ok(found.map(|placed| placed.row))
}

pub(super) async fn select(
    executor: impl PgExecutor<'_>,
    window: Window,
) -> Result<Vec<Placed<Customer>>, DeskError> {
    let (side, from, order) = window.bounds();
    let sql = format!(
        "SELECT {} FROM customer WHERE position {side} $1 ORDER BY position {order} LIMIT $2",
        rows::CUSTOMER
    );
    let query = sqlx::query(AssertSqlSafe(sql)).bind(from).bind(window.limit());
    let found = query.fetch_all(executor).await?;
    Ok(found.iter().map(rows::customer).collect::<Result<_, _>>()?)
}

pub(super) async fn select_by_ids(
    executor: impl PgExecutor<'_>,
    ids: &[CustomerId],
    with_name: bool,
) -> Result<Vec<PartialCustomer>, DeskError> {
    let sql = match with_name {
        true => "SELECT id, name FROM customer WHERE id = ANY($1)",
        false => "SELECT id, NULL::text FROM customer WHERE id = ANY($1)",
    };
    let ids: Vec<&str> = ids.iter().map(CustomerId::as_str).collect();
    let found = sqlx::query(sql).bind(ids).fetch_all(executor).await?;
    let customers = found.iter().map(|row| {
        Ok(PartialCustomer {
            id: rows::parsed(row, 0)?,
            name: row.try_get(1)?,
        })
    });
    Ok(customers.collect::<Result<_, sqlx::Error>>()?)
}
