//! Rows of signing keys.

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{Connection, Transaction, params};

use crate::desk::{DeskError, StoredKey};

pub(super) fn select(connection: &Connection, purpose: &str) -> Result<Vec<StoredKey>, DeskError> {
    let mut query = connection.prepare_cached(
        "SELECT number, signs_from, pem FROM signing_key WHERE purpose = ?1 ORDER BY number",
    )?;
    let keys = query.query_map([purpose], |row| {
        let Time(signs_from) = row.get(1)?;
        Ok(StoredKey::new(row.get(0)?, signs_from, row.get::<_, String>(2)?))
    });
    Ok(keys?.collect::<Result<_, _>>()?)
}

pub(super) fn insert(transaction: &Transaction<'_>, purpose: &str, key: &StoredKey) -> Result<(), DeskError> {
    transaction.execute(
        "INSERT INTO signing_key (purpose, number, signs_from, pem) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT DO NOTHING",
        params![purpose, key.number, Time(key.signs_from), key.pem.as_str()],
    )?;
    Ok(())
}

pub(super) fn delete_below(
    transaction: &Transaction<'_>,
    purpose: &str,
    number: u32,
) -> Result<(), DeskError> {
    transaction.execute(
        "DELETE FROM signing_key WHERE purpose = ?1 AND number < ?2",
        params![purpose, number],
    )?;
    Ok(())
}
