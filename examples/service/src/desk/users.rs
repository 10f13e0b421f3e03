//! The people who sign in, with their passwords hashed by Argon2id.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use store_sqlite::rusqlite::{self, OptionalExtension, Row, params};

use super::{Desk, DeskError};

/// Someone who can sign in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct User {
    /// What tokens call them; never changes.
    pub subject: String,
    /// Their address.
    pub email: String,
    /// Their name.
    pub name: String,
}

impl User {
    /// A user by these names.
    #[must_use]
    pub fn new(subject: impl Into<String>, email: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            email: email.into(),
            name: name.into(),
        }
    }
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        subject: row.get(0)?,
        email: row.get(1)?,
        name: row.get(2)?,
    })
}

impl Desk {
    /// Registers `user` unless somebody has the subject or the address already.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn register_user(&self, user: User, password: &str) -> Result<(), DeskError> {
        let hash = self.hash(password.to_owned()).await;
        self.database
            .write(move |transaction| {
                transaction
                    .prepare_cached(
                        "INSERT INTO user (subject, email, name, password_hash) VALUES (?1, ?2, ?3, ?4) \
                         ON CONFLICT DO NOTHING",
                    )?
                    .execute(params![user.subject, user.email, user.name, hash])?;
                Ok::<_, DeskError>(())
            })
            .await
    }

    /// The user by this address.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn user_by_email(&self, email: &str) -> Result<Option<User>, DeskError> {
        let found = self.with_hash(email).await?;
        Ok(found.map(|(user, _)| user))
    }

    /// The user with this address and password. An unknown address costs the same work as a wrong password.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn authenticate(&self, email: &str, password: String) -> Result<Option<User>, DeskError> {
        match self.with_hash(email).await? {
            Some((user, hash)) => Ok(self.verify(password, hash).await.then_some(user)),
            None => {
                let _same_work = self.hash(password).await;
                Ok(None)
            }
        }
    }

    async fn with_hash(&self, email: &str) -> Result<Option<(User, String)>, DeskError> {
        let email = email.to_owned();
        self.database
            .read(move |connection| {
                let mut query = connection.prepare_cached(
                    "SELECT subject, email, name, password_hash FROM user WHERE email = ?1",
                )?;
                let found = query.query_row([email], |row| Ok((user(row)?, row.get(3)?)));
                Ok(found.optional()?)
            })
            .await
    }

    /// The user of this subject.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn user_by_subject(&self, subject: &str) -> Result<Option<User>, DeskError> {
        let subject = subject.to_owned();
        self.database
            .read(move |connection| {
                let mut query =
                    connection.prepare_cached("SELECT subject, email, name FROM user WHERE subject = ?1")?;
                Ok(query.query_row([subject], user).optional()?)
            })
            .await
    }

    /// Gives the user of this subject another password. Their sessions are the caller's to end.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn set_password(&self, subject: &str, password: String) -> Result<(), DeskError> {
        let (subject, hash) = (subject.to_owned(), self.hash(password).await);
        self.database
            .write(move |transaction| {
                transaction.execute(
                    "UPDATE user SET password_hash = ?2 WHERE subject = ?1",
                    params![subject, hash],
                )?;
                Ok::<_, DeskError>(())
            })
            .await
    }

    async fn hash(&self, password: String) -> String {
        let hashed = self.off_thread(move || {
            Argon2::default()
                .hash_password(password.as_bytes())
                .map(|hash| hash.to_string())
        });
        hashed.await.and_then(Result::ok).unwrap_or_default()
    }

    async fn verify(&self, password: String, hash: String) -> bool {
        let verified = self.off_thread(move || {
            let Ok(hash) = PasswordHash::new(&hash) else {
                return false;
            };
            Argon2::default()
                .verify_password(password.as_bytes(), &hash)
                .is_ok()
        });
        verified.await.unwrap_or(false)
    }

    /// Hashing takes tens of milliseconds and 19 MiB by design: off the threads that serve requests, and a few at a time.
    async fn off_thread<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let turn = Arc::clone(&self.hashing).acquire_owned().await.ok()?;
        let worked = tokio::task::spawn_blocking(move || {
            let worked = work();
            drop(turn);
            worked
        });
        worked.await.ok()
    }
}
