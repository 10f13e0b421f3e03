//! Migrations of the suite's tables and of a host's own tables.

use sqlx::{PgConnection, PgPool};

use super::begin;
use super::error::{DatabaseError, DatabaseErrorKind};

/// Name of the advisory lock that is held while tables are made.
const LOCK: &str = "host-store-postgres";

/// Tables of the suite by feature: a component of `store_component` at version 1, and its schema.
const PARTS: &[(&str, &str)] = &[
    #[cfg(feature = "conventions")]
    (
        "host-store-postgres/conventions",
        include_str!("../schema/conventions.sql"),
    ),
    #[cfg(feature = "graph")]
    ("host-store-postgres/graph", include_str!("../schema/graph.sql")),
    #[cfg(feature = "oauth")]
    ("host-store-postgres/oauth", include_str!("../schema/oauth.sql")),
    #[cfg(feature = "webhooks")]
    (
        "host-store-postgres/webhooks",
        include_str!("../schema/webhooks.sql"),
    ),
];

/// Makes the tables of this build's features that the schema does not have.
pub(super) async fn migrate_suite(pool: &PgPool) -> Result<(), DatabaseError> {
    for (name, schema) in PARTS {
        migrate(pool, name, &[schema]).await?;
    }
    Ok(())
}

/// Migrates the tables of a component to the last of `steps` in one transaction.
///
/// If no step is left it only reads, so that a role without the right to make tables can start.
/// Processes that start together wait for an advisory lock; all but the first find no step left.
pub(super) async fn migrate(pool: &PgPool, name: &str, steps: &[&'static str]) -> Result<(), DatabaseError> {
    let mut transaction = begin(pool).await?;
    if has_tables(&mut transaction).await? && steps_left(&mut transaction, name, steps).await?.is_empty() {
        return Ok(transaction.commit().await?);
    }
    // another process may hold the lock for longer than an operation would wait; sqlx would log a
    // notice about the table of components
    sqlx::raw_sql(
        "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = 'warning'",
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query("SELECT pg_advisory_xact_lock(hashtext($1), hashtext(current_schema()))")
        .bind(LOCK)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "CREATE TABLE IF NOT EXISTS store_component (name TEXT PRIMARY KEY, version INTEGER NOT NULL)",
    )
    .execute(&mut *transaction)
    .await?;
    for step in steps_left(&mut transaction, name, steps).await? {
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
    }
    note(&mut transaction, name, steps.len()).await?;
    Ok(transaction.commit().await?)
}

/// Returns `true` if this schema, not another one of the `search_path`, has a table of components.
async fn has_tables(connection: &mut PgConnection) -> Result<bool, DatabaseError> {
    let found =
        sqlx::query_scalar("SELECT to_regclass(format('%I.store_component', current_schema())) IS NOT NULL");
    Ok(found.fetch_one(connection).await?)
}

/// Returns the steps that have not run.
async fn steps_left<'s>(
    connection: &mut PgConnection,
    name: &str,
    steps: &'s [&'static str],
) -> Result<&'s [&'static str], DatabaseError> {
    let version: Option<i32> = sqlx::query_scalar("SELECT version FROM store_component WHERE name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    let reached = usize::try_from(version.unwrap_or(0)).map_err(DatabaseError::corrupt)?;
    steps.get(reached..).ok_or_else(|| {
        let reason = format!(
            "`{name}` is at version {reached} in the schema, this release reads {}",
            steps.len()
        );
        DatabaseError::new(DatabaseErrorKind::Incompatible, reason)
    })
}

async fn note(connection: &mut PgConnection, name: &str, version: usize) -> Result<(), DatabaseError> {
    sqlx::query(
        "INSERT INTO store_component (name, version) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE store_component.version < excluded.version",
    )
    .bind(name)
    .bind(i32::try_from(version).unwrap_or(i32::MAX))
    .execute(connection)
    .await?;
    Ok(())
}
