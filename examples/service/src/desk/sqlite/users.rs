//! Rows of users.

use host_store_sqlite::rusqlite::{self, Connection, OptionalExtension, Row, Transaction, params};

use crate::desk::{DeskError, HashedPassword, User};

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        subject: row.get(0)?,
        email: row.get(1)?,
        name: row.get(2)?,
    })
}

pub(super) fn insert(
    transaction: &Transaction<'_>,
    user: &User,
    password: &HashedPassword,
) -> Result<bool, DeskError> {
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO user (subject, email, name, password_hash) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![user.subject, user.email, user.name, password.as_str()])?;
    Ok(inserted > 0)
}

pub(super) fn load_with_hash(
    connection: &Connection,
    email: &str,
) -> Result<Option<(User, HashedPassword)>, DeskError> {
    let mut query =
        connection.prepare_cached("SELECT subject, email, name, password_hash FROM user WHERE email = ?1")?;
    let found = query.query_row([email], |row| {
        Ok((user(row)?, HashedPassword::stored(row.get(3)?)))
    });
    Ok(found.optional()?)
}

pub(super) fn load(connection: &Connection, subject: &str) -> Result<Option<User>, DeskError> {
    let mut query = connection.prepare_cached("SELECT subject, email, name FROM user WHERE subject = ?1")?;
    Ok(query.query_row([subject], user).optional()?)
}

pub(super) fn has_password(
    connection: &Connection,
    subject: &str,
    password: &HashedPassword,
) -> Result<bool, DeskError> {
    let mut query =
        connection.prepare_cached("SELECT 1 FROM user WHERE subject = ?1 AND password_hash = ?2")?;
    Ok(query.exists([subject, password.as_str()])?)
}

pub(super) fn set_password(
    transaction: &Transaction<'_>,
    subject: &str,
    current: Option<&HashedPassword>,
    new: &HashedPassword,
) -> Result<bool, DeskError> {
    let changed = transaction.execute(
        "UPDATE user SET password_hash = ?3 WHERE subject = ?1 AND (?2 IS NULL OR password_hash = ?2)",
        params![subject, current.map(HashedPassword::as_str), new.as_str()],
    )?;
    Ok(changed == 1)
}
