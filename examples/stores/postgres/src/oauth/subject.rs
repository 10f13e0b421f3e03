//! The lock of a subject: shared by operations that add grants, exclusive for an operation that
//! ends all of them.
//!
//! Row locks are not enough: a family that a pending redemption is about to insert has no row yet.

use oauth_core::vocabulary::Subject;
use sqlx::{PgPool, Postgres, Transaction};

use crate::database::{DatabaseError, begin};

/// Begins an operation that adds a grant of `subject`.
pub(super) async fn begin_sharing(
    pool: &PgPool,
    subject: Option<&Subject>,
) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    let lock = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))";
    begin_with_lock(pool, lock, subject).await
}

/// Begins an operation that ends everything of `subject`: it waits for earlier operations, and
/// later ones wait for it.
pub(super) async fn begin_alone(
    pool: &PgPool,
    subject: &Subject,
) -> Result<Transaction<'static, Postgres>, DatabaseError> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    begin_with_lock(pool, lock, Some(subject)).await
}

/// Two subjects or schemas with the same lock number wait for each other, without further effect.
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
