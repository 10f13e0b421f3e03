//! Migrations of the suite's tables and of a host's own tables.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::error::{DatabaseError, DatabaseErrorKind};

/// `PRAGMA user_version` of a file of this release.
const LAYOUT: u32 = 1;

const STORE: &str = include_str!("../schema/store.sql");

/// Tables of the suite by feature: a component of `store_component` at version 1, and its schema.
const PARTS: &[(&str, &str)] = &[
    #[cfg(feature = "conventions")]
    (
        "host-store-sqlite/conventions",
        include_str!("../schema/conventions.sql"),
    ),
    #[cfg(feature = "graph")]
    ("host-store-sqlite/graph", include_str!("../schema/graph.sql")),
    #[cfg(feature = "oauth")]
    ("host-store-sqlite/oauth", include_str!("../schema/oauth.sql")),
    #[cfg(feature = "webhooks")]
    (
        "host-store-sqlite/webhooks",
        include_str!("../schema/webhooks.sql"),
    ),
];

/// Makes the tables of this build's features that the file does not have.
pub(super) fn migrate_suite(connection: &mut Connection) -> Result<(), DatabaseError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match (version, has_our_tables(&transaction)?) {
        (0, false) => {
            transaction.execute_batch(STORE)?;
            transaction.pragma_update(None, "user_version", LAYOUT)?;
        }
        (LAYOUT, true) => {}
        (_, true) => {
            let reason = format!("`user_version` is {version}, this release reads {LAYOUT}");
            return Err(DatabaseError::new(DatabaseErrorKind::Incompatible, reason));
        }
        (_, false) => {
            let reason = format!("`user_version` is {version}, set by another application");
            return Err(DatabaseError::new(DatabaseErrorKind::Incompatible, reason));
        }
    }
    for (name, schema) in PARTS {
        migrate_component(&transaction, name, &[schema])?;
    }
    Ok(transaction.commit()?)
}

/// Reads the file: the connection's cached schema may be older than tables of another handle.
fn has_our_tables(transaction: &Transaction<'_>) -> Result<bool, DatabaseError> {
    let ours = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'store_component'";
    Ok(transaction.query_row(ours, (), |row| row.get(0))?)
}

/// Migrates the tables of a host's component `name` to the last of `steps`.
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
    let reached = run_steps(transaction, name, version, steps)?;
    transaction.execute(
        "INSERT INTO store_component (name, version) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version",
        (name, reached),
    )?;
    Ok(())
}

/// Runs the steps after `version`; returns the new version.
fn run_steps<S: AsRef<str>>(
    transaction: &Transaction<'_>,
    name: &str,
    version: u32,
    steps: &[S],
) -> Result<u32, DatabaseError> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    if version > known {
        let reason = format!("`{name}` is at version {version} in the file, this release reads {known}");
        return Err(DatabaseError::new(DatabaseErrorKind::Incompatible, reason));
    }
    for step in steps.iter().skip(usize::try_from(version).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step.as_ref())?;
    }
    Ok(known)
}
