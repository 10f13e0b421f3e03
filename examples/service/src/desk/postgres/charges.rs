//! Rows of charges.

use host_store_postgres::sqlx::postgres::PgRow;
use host_store_postgres::sqlx::{self, AssertSqlSafe, PgConnection, PgExecutor};

use super::rows::{self, nanoseconds};
use crate::desk::{ChargeFilter, DeskError, Placed, Window};
use crate::domain::{Charge, ChargeId, ChargeStatus, CustomerId, Fault};

/// Reads `columns` of a charge; `read` reads the row.
pub(super) async fn select_one<T>(
    executor: impl PgExecutor<'_>,
    columns: &str,
    id: &ChargeId,
    read: impl Fn(&PgRow) -> Result<Placed<T>, sqlx::Error>,
) -> Result<Option<T>, DeskError> {
    let sql = format!("SELECT {columns} FROM charge WHERE id = $1");
    let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str());
    let found = query.fetch_optional(executor).await?;
    Ok(found.map(|row| read(&row)).transpose()?.map(|placed| placed.row))
}

/// Reads and locks a charge until the transaction ends.
pub(super) async fn lock(connection: &mut PgConnection, id: &ChargeId) -> Result<Charge, DeskError> {
    let sql = format!("SELECT {} FROM charge WHERE id = $1 FOR UPDATE", rows::CHARGE);
    let query = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str());
    let found = query
        .fetch_optional(connection)
        .await?
        .ok_or(DeskError::NotFound)?;
    Ok(rows::charge(&found)?.row)
}

/// Reads `columns` of the charges in `window` that match `filter`; `read` reads a row.
pub(super) async fn select<T>(
    executor: impl PgExecutor<'_>,
    columns: &str,
    filter: &ChargeFilter,
    window: Window,
    read: impl Fn(&PgRow) -> Result<Placed<T>, sqlx::Error>,
) -> Result<Vec<Placed<T>>, DeskError> {
    let (side, from, order) = window.bounds();
    // one condition per filter, so that a generic plan can use its index
    let by_status = if filter.status.is_some() {
        "status = $2"
    } else {
        "$2::text IS NULL"
    };
    let by_customer = if filter.customer.is_some() {
        "customer = $3"
    } else {
        "$3::text IS NULL"
    };
    let sql = format!(
        "SELECT {columns} FROM charge WHERE position {side} $1 AND {by_status} AND {by_customer} \
         ORDER BY position {order} LIMIT $4",
    );
    let found = sqlx::query(AssertSqlSafe(sql))
        .bind(from)
        .bind(filter.status.map(ChargeStatus::as_str))
        .bind(filter.customer.as_ref().map(CustomerId::as_str))
        .bind(window.limit())
        .fetch_all(executor)
        .await?;
    Ok(found.iter().map(read).collect::<Result<_, _>>()?)
}

pub(super) async fn insert(connection: &mut PgConnection, charge: &Charge) -> Result<(), DeskError> {
    let customer = charge.customer.as_ref().map(CustomerId::as_str);
    if let Some(customer) = customer {
        let known = sqlx::query("SELECT FROM customer WHERE id = $1").bind(customer);
        if known.fetch_optional(&mut *connection).await?.is_none() {
            return Err(DeskError::Faulty(vec![Fault::UNKNOWN_CUSTOMER]));
        }
    }
    sqlx::query(
        "INSERT INTO charge (id, customer, amount, currency, description, amount_refunded, status, version, created) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(charge.id.as_str())
    .bind(customer)
    .bind(i64::from(charge.amount.units()))
    .bind(charge.currency.as_str())
    .bind(charge.description.as_deref())
    .bind(i64::from(charge.amount_refunded))
    .bind(charge.status().as_str())
    .bind(i64::from(charge.version))
    .bind(nanoseconds(charge.created))
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the mutable columns of a charge. Returns `false` if the stored version is not the
/// preceding one.
pub(super) async fn update(executor: impl PgExecutor<'_>, charge: &Charge) -> Result<bool, DeskError> {
    let written = sqlx::query(
        "UPDATE charge SET description = $3, amount_refunded = $4, status = $5, version = $2 \
         WHERE id = $1 AND version = $2 - 1",
    )
    .bind(charge.id.as_str())
    .bind(i64::from(charge.version))
    .bind(charge.description.as_deref())
    .bind(i64::from(charge.amount_refunded))
    .bind(charge.status().as_str())
    .execute(executor)
    .await?;
    Ok(written.rows_affected() == 1)
}
