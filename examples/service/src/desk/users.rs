//! Users and their passwords.

use host_store_sqlite::rusqlite::{self, OptionalExtension, Row, params};
use zeroize::Zeroizing;

use super::{Desk, DeskError, HashedPassword, HashingPlace, PasswordText};

/// A user, who can sign in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct User {
    /// Subject identifier in tokens; never changes.
    pub subject: String,
    /// Email address.
    pub email: String,
    /// Display name.
    pub name: String,
}

impl User {
    /// Creates a user.
    #[must_use]
    pub fn new(subject: impl Into<String>, email: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            email: email.into(),
            name: name.into(),
        }
    }
}

/// A user who has entered the correct password. Valid until the password changes: see
/// [`is_current`](Desk::is_current).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Authenticated {
    /// The user.
    pub user: User,
    /// Stored hash that the password was verified against.
    verified: HashedPassword,
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        subject: row.get(0)?,
        email: row.get(1)?,
        name: row.get(2)?,
    })
}

impl Desk {
    /// Registers `user`, unless the subject or the email address is taken.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] or [`DeskError::Hashing`].
    pub async fn register_user(&self, user: User, password: PasswordText) -> Result<(), DeskError> {
        let hash = self.hash_password(self.hashing_place()?, password).await?;
        self.database
            .write(move |transaction| {
                transaction
                    .prepare_cached(
                        "INSERT INTO user (subject, email, name, password_hash) VALUES (?1, ?2, ?3, ?4) \
                         ON CONFLICT DO NOTHING",
                    )?
                    .execute(params![user.subject, user.email, user.name, hash.as_str()])?;
                Ok::<_, DeskError>(())
            })
            .await
    }

    /// Reads a user by email address.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub async fn user_by_email(&self, email: &str) -> Result<Option<User>, DeskError> {
        let found = self.with_hash(email).await?;
        Ok(found.map(|(user, _)| user))
    }

    /// Verifies a password. An unknown address costs the same work as a wrong password.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] or [`DeskError::Hashing`]; neither says anything about the
    /// password.
    pub async fn authenticate(
        &self,
        place: HashingPlace,
        email: &str,
        password: String,
    ) -> Result<Option<Authenticated>, DeskError> {
        let password = Zeroizing::new(password);
        match self.with_hash(email).await? {
            Some((user, verified)) => {
                let right = self.hashing.verify(place, password, verified.clone()).await?;
                Ok(right.then_some(Authenticated { user, verified }))
            }
            None => {
                let _same_work = self.hashing.hash(place, password).await?;
                Ok(None)
            }
        }
    }

    /// Returns `true` if the verified password is still the user's.
    ///
    /// # Contract
    ///
    /// Call this after the session that the password opened is stored. A password change ends the
    /// sessions stored by then; with this order, one of the two calls always sees the other.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub async fn is_current(&self, authenticated: &Authenticated) -> Result<bool, DeskError> {
        let Authenticated { user, verified } = authenticated.clone();
        self.database
            .read(move |connection| {
                let mut query = connection
                    .prepare_cached("SELECT 1 FROM user WHERE subject = ?1 AND password_hash = ?2")?;
                Ok(query.exists([user.subject.as_str(), verified.as_str()])?)
            })
            .await
    }

    async fn with_hash(&self, email: &str) -> Result<Option<(User, HashedPassword)>, DeskError> {
        let email = email.to_owned();
        self.database
            .read(move |connection| {
                let mut query = connection.prepare_cached(
                    "SELECT subject, email, name, password_hash FROM user WHERE email = ?1",
                )?;
                let found = query.query_row([email], |row| {
                    Ok((user(row)?, HashedPassword::stored(row.get(3)?)))
                });
                Ok(found.optional()?)
            })
            .await
    }

    /// Reads a user by subject.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
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

    /// Changes the password, unless the verified one is no longer the user's. Of several concurrent
    /// changes with one password, exactly one returns `true`.
    ///
    /// # Contract
    ///
    /// The caller ends the user's sessions afterwards.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] or [`DeskError::Hashing`]; the password is then unchanged.
    pub async fn change_password(
        &self,
        authenticated: &Authenticated,
        password: PasswordText,
    ) -> Result<bool, DeskError> {
        let hash = self.hash_password(self.hashing_place()?, password).await?;
        let Authenticated { user, verified } = authenticated.clone();
        self.database
            .write(move |transaction| {
                let changed = transaction.execute(
                    "UPDATE user SET password_hash = ?3 WHERE subject = ?1 AND password_hash = ?2",
                    [user.subject.as_str(), verified.as_str(), hash.as_str()],
                )?;
                Ok(changed == 1)
            })
            .await
    }

    /// Hashes a password for [`set_password`](Self::set_password). This is the slow step, so call
    /// it before the reset token is consumed.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Hashing`] if the password cannot be hashed.
    pub async fn hash_password(
        &self,
        place: HashingPlace,
        password: PasswordText,
    ) -> Result<HashedPassword, DeskError> {
        Ok(self.hashing.hash_chosen(place, password).await?)
    }

    /// Reserves a place in the queue for hashing. Call this before the attempt is counted, so that
    /// an attempt refused by a full queue is not counted.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Hashing`] if the queue is full.
    pub fn hashing_place(&self) -> Result<HashingPlace, DeskError> {
        Ok(self.hashing.place()?)
    }

    /// Sets the password of a user without the old one, after a reset by mail.
    ///
    /// # Contract
    ///
    /// The caller ends the user's sessions afterwards.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub async fn set_password(&self, subject: &str, password: HashedPassword) -> Result<(), DeskError> {
        let subject = subject.to_owned();
        self.database
            .write(move |transaction| {
                transaction.execute(
                    "UPDATE user SET password_hash = ?2 WHERE subject = ?1",
                    [subject.as_str(), password.as_str()],
                )?;
                Ok::<_, DeskError>(())
            })
            .await
    }

    /// Makes all later hashing fail.
    #[cfg(test)]
    pub(crate) fn stop_hashing(&self) {
        self.hashing.close();
    }
}
