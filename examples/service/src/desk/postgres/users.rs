//! Rows of users.

use host_store_postgres::sqlx::{self, PgExecutor};

use crate::desk::{DeskError, HashedPassword, User};

pub(super) async fn insert(
    executor: impl PgExecutor<'_>,
    user: &User,
    password: &HashedPassword,
) -> Result<bool, DeskError> {
    let inserted = sqlx::query(
        "INSERT INTO desk_user (subject, email, name, password_hash) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING",
    )
    .bind(&user.subject)
    .bind(&user.email)
    .bind(&user.name)
    .bind(password.as_str())
    .execute(executor)
    .await?;
    Ok(inserted.rows_affected() > 0)
}

pub(super) async fn load_with_hash(
    executor: impl PgExecutor<'_>,
    email: &str,
) -> Result<Option<(User, HashedPassword)>, DeskError> {
    let found: Option<(String, String, String, String)> =
        sqlx::query_as("SELECT subject, email, name, password_hash FROM desk_user WHERE email = $1")
            .bind(email)
            .fetch_optional(executor)
            .await?;
    Ok(found
        .map(|(subject, email, name, hash)| (User::new(subject, email, name), HashedPassword::stored(hash))))
}

pub(super) async fn load(executor: impl PgExecutor<'_>, subject: &str) -> Result<Option<User>, DeskError> {
    let found: Option<(String, String, String)> =
        sqlx::query_as("SELECT subject, email, name FROM desk_user WHERE subject = $1")
            .bind(subject)
            .fetch_optional(executor)
            .await?;
    Ok(found.map(|(subject, email, name)| User::new(subject, email, name)))
}

pub(super) async fn has_password(
    executor: impl PgExecutor<'_>,
    subject: &str,
    password: &HashedPassword,
) -> Result<bool, DeskError> {
    let query = sqlx::query("SELECT FROM desk_user WHERE subject = $1 AND password_hash = $2")
        .bind(subject)
        .bind(password.as_str());
    Ok(query.fetch_optional(executor).await?.is_some())
}

pub(super) async fn set_password(
    executor: impl PgExecutor<'_>,
    subject: &str,
    current: Option<&HashedPassword>,
    new: &HashedPassword,
) -> Result<bool, DeskError> {
    let changed = sqlx::query(
        "UPDATE desk_user SET password_hash = $3 \
         WHERE subject = $1 AND ($2::text IS NULL OR password_hash = $2)",
    )
    .bind(subject)
    .bind(current.map(HashedPassword::as_str))
    .bind(new.as_str())
    .execute(executor)
    .await?;
    Ok(changed.rows_affected() == 1)
}
