//! Tables that grow with the releases: each step runs once per schema, in order.

use sqlx::{PgConnection, PgPool};

use super::begin;
use super::error::{DatabaseError, DatabaseErrorKind};

/// The name under which the suite's own tables are counted.
const SUITE: &str = "store-postgres";

/// The suite's own tables. A release appends a step and never edits one.
const STEPS: &[&str] = &[include_str!("../schema/0001.sql")];

pub(super) async fn migrate_suite(pool: &PgPool) -> Result<(), DatabaseError> {
    migrate(pool, SUITE, STEPS).await
}

/// Brings the tables of a component to the version that `steps` describe, all in one transaction.
///
/// Processes that start together wait for each other at a lock of the schema, and all but the first find nothing to do.
pub(super) async fn migrate(pool: &PgPool, name: &str, steps: &[&'static str]) -> Result<(), DatabaseError> {
    let mut transaction = begin(pool).await?;
    // another process may be at it for longer than a verb would wait
    sqlx::raw_sql("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        .execute(&mut *transaction)
        .await?;
    sqlx::query("SELECT pg_advisory_xact_lock(hashtext($1), hashtext(current_schema()))")
        .bind(SUITE)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "CREATE TABLE IF NOT EXISTS store_component (name TEXT PRIMARY KEY, version INTEGER NOT NULL)",
    )
    .execute(&mut *transaction)
    .await?;
    run_steps(&mut transaction, name, steps).await?;
    Ok(transaction.commit().await?)
}

async fn run_steps(
    connection: &mut PgConnection,
    name: &str,
    steps: &[&'static str],
) -> Result<(), DatabaseError> {
    let version: Option<i32> = sqlx::query_scalar("SELECT version FROM store_component WHERE name = $1")
        .bind(name)
        .fetch_optional(&mut *connection)
        .await?;
    let reached = usize::try_from(version.unwrap_or(0)).map_err(DatabaseError::corrupt)?;
    if reached > steps.len() {
        let reason = format!(
            "version {reached} of {name} in the database, {} known",
            steps.len()
        );
        return Err(DatabaseError::new(DatabaseErrorKind::Incompatible, reason));
    }
    for step in steps.iter().skip(reached) {
        sqlx::raw_sql(*step).execute(&mut *connection).await?;
    }
    sqlx::query(
        "INSERT INTO store_component (name, version) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE store_component.version < excluded.version",
    )
    .bind(name)
    .bind(i32::try_from(steps.len()).unwrap_or(i32::MAX))
    .execute(&mut *connection)
    .await?;
    Ok(())
}
