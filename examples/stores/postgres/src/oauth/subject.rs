//! The lock of a subject: who adds to what a subject has holds it together with others, who ends all of it holds it alone.
//!
//! Rows alone would not do: a family that a redemption is about to store is no row yet for whoever revokes everything.

use oauth_core::vocabulary::Subject;
use sqlx::{PgPool, Postgres, Transaction};

use crate::database::{DatabaseError, begin};

/// Begins a verb that adds to what `subject` has.
pub(super) async fn begin_sharing(
    pool: &PgPool,
    subject: Option<&Subject>,
) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    let lock = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))";
    begin_with_lock(pool, lock, subject).await
}

/// Begins a verb that ends everything of `subject`: all that began before have been committed, and what comes later waits.
pub(super) async fn begin_alone(
    pool: &PgPool,
    subject: &Subject,
) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    begin_with_lock(pool, lock, Some(subject)).await
}

/// Two subjects, or two schemas, that share a number wait for each other; nothing else comes of it.
async fn begin_with_lock(
    pool: &PgPool,
    lock: &'static str,
    subject: Option<&Subject>,
) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    let mut transaction = begin(pool).await?;
    sqlx::query(lock)
        .bind(subject.map_or("", Subject::as_str))
        .execute(&mut *transaction)
        .await?;
    Ok(transaction)
}
