//! The people who sign in, with their passwords hashed by Argon2id.

use std::sync::Arc;
use std::time::SystemTime;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use oauth_core::secret::TokenHash;
use store_sqlite::column::Time;
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

    /// Remembers between the two pages that `user` typed the password for this interaction.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn begin_consent(&self, interaction: &str, user: &User) -> Result<(), DeskError> {
        let (interaction, subject, now) =
            (TokenHash::of(interaction), user.subject.clone(), self.clock.now());
        self.database
            .write(move |transaction| {
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO sign_in (interaction, subject, auth_time) VALUES (?1, ?2, ?3)")?
                    .execute(params![interaction.as_bytes(), subject, Time(now)])?;
                Ok::<_, DeskError>(())
            })
            .await
    }

    /// Forgets who typed a password before `time` and never came to the second page.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn forget_sign_ins(&self, time: SystemTime) -> Result<(), DeskError> {
        self.database
            .write(move |transaction| {
                transaction.execute("DELETE FROM sign_in WHERE auth_time < ?1", params![Time(time)])?;
                Ok::<_, DeskError>(())
            })
            .await
    }

    /// Takes what [`begin_consent`](Self::begin_consent) remembered: who, and when they typed the password. Once.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn end_consent(&self, interaction: &str) -> Result<Option<(User, SystemTime)>, DeskError> {
        let interaction = TokenHash::of(interaction);
        self.database
            .write(move |transaction| {
                let mut taken = transaction.prepare_cached(
                    "DELETE FROM sign_in WHERE interaction = ?1 RETURNING subject, auth_time",
                )?;
                let taken = taken
                    .query_row([interaction.as_bytes()], |row| {
                        Ok((row.get::<_, String>(0)?, row.get::<_, Time>(1)?))
                    })
                    .optional()?;
                let Some((subject, Time(auth_time))) = taken else {
                    return Ok(None);
                };
                let mut query =
                    transaction.prepare_cached("SELECT subject, email, name FROM user WHERE subject = ?1")?;
                Ok::<_, DeskError>(Some((query.query_row([subject], user)?, auth_time)))
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
