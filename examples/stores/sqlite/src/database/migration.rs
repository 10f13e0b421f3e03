//! Tables that grow with the releases: each step runs once per file, in order.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::error::{DatabaseError, DatabaseErrorKind};

/// The suite's own tables. A release appends a step and never edits one; `PRAGMA user_version` counts those that ran.
const SUITE: &[&str] = &[
    include_str!("../schema/0001.sql"),
    include_str!("../schema/0002.sql"),
    include_str!("../schema/0003.sql"),
    include_str!("../schema/0004.sql"),
    include_str!("../schema/0005.sql"),
    include_str!("../schema/0006.sql"),
    include_str!("../schema/0007.sql"),
    include_str!("../schema/0008.sql"),
    include_str!("../schema/0009.sql"),
    include_str!("../schema/0010.sql"),
    include_str!("../schema/0011.sql"),
];

/// Brings the suite's tables to the present version.
pub(super) fn migrate_suite(connection: &mut Connection) -> Result<(), DatabaseError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version > 0 && !has_our_tables(&transaction)? {
        let reason = format!("another application counts its own version {version} in `user_version`");
        return Err(DatabaseError::new(DatabaseErrorKind::Incompatible, reason));
    }
    let reached = run_steps(&transaction, version, SUITE)?;
    transaction.pragma_update(None, "user_version", reached)?;
    Ok(transaction.commit()?)
}

/// Asks the file: what the connection knows of its tables may be older than what another handle has made.
fn has_our_tables(transaction: &Transaction<'_>) -> Result<bool, DatabaseError> {
    let ours = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'store_component'";
    Ok(transaction.query_row(ours, (), |row| row.get(0))?)
}

/// Brings the tables of a host's component `name` to the version that `steps` describe.
pub(super) fn migrate_component<S: AsRef<str>>(
    transaction: &Transaction<'_>,
    name: &str,
    steps: &[S],
) -> Result<(), DatabaseError> {
    let version = transaction
        .query_row(
            "SELECT version FROM store_component WHERE name = ?1",
            [name],
            |row| row.get(0),
        )
        .optional()?
        .unwrap_or(0);
    let reached = run_steps(transaction, version, steps)?;
    transaction.execute(
        "INSERT INTO store_component (name, version) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version",
        (name, reached),
    )?;
    Ok(())
}

/// Runs the steps after `version`; returns the version reached.
fn run_steps<S: AsRef<str>>(
    transaction: &Transaction<'_>,
    version: u32,
    steps: &[S],
) -> Result<u32, DatabaseError> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    if version > known {
        let reason = format!("version {version} in the file, {known} known");
        return Err(DatabaseError::new(DatabaseErrorKind::Incompatible, reason));
    }
    for step in steps.iter().skip(usize::try_from(version).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step.as_ref())?;
    }
    Ok(known)
}
