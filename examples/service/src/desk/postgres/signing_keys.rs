//! Rows of signing keys.

use host_store_postgres::sqlx::{self, Error, PgExecutor, Row};

use super::rows;
use crate::desk::{DeskError, StoredKey};

pub(super) async fn select(
    executor: impl PgExecutor<'_>,
    purpose: &str,
) -> Result<Vec<StoredKey>, DeskError> {
    let query =
        sqlx::query("SELECT number, signs_from, pem FROM signing_key WHERE purpose = $1 ORDER BY number");
    let found = query.bind(purpose).fetch_all(executor).await?;
    let keys = found.iter().map(|row| {
        let (number, signs_from) = (rows::number(row, 0)?, rows::time(row, 1)?);
        Ok(StoredKey::new(number, signs_from, row.try_get::<String, _>(2)?))
    });
    Ok(keys.collect::<Result<_, Error>>()?)
}

/// Waits for a concurrent insert of this number.
pub(super) async fn insert(
    executor: impl PgExecutor<'_>,
    purpose: &str,
    key: &StoredKey,
) -> Result<(), DeskError> {
    sqlx::query(
        "INSERT INTO signing_key (purpose, number, signs_from, pem) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING",
    )
    .bind(purpose)
    .bind(i64::from(key.number))
    .bind(rows::nanoseconds(key.signs_from))
    .bind(key.pem.as_str())
    .execute(executor)
    .await?;
    Ok(())
}

pub(super) async fn delete_below(
    executor: impl PgExecutor<'_>,
    purpose: &str,
    number: u32,
) -> Result<(), DeskError> {
    sqlx::query("DELETE FROM signing_key WHERE purpose = $1 AND number < $2")
        .bind(purpose)
        .bind(i64::from(number))
        .execute(executor)
        .await?;
    Ok(())
}
