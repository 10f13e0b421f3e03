//! The people who sign in, and their passwords.

use host_store_sqlite::rusqlite::{self, OptionalExtension, Row, params};
use zeroize::Zeroizing;

use super::{Desk, DeskError, HashedPassword, HashingPlace, PasswordText};

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

/// Somebody who has shown their password. It counts for as long as that is the password: see
/// [`still_counts`](Desk::still_counts).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Authenticated {
    /// Who.
    pub user: User,
    /// What the password was compared with.
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
    /// Registers `user` unless somebody has the subject or the address already.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`], [`DeskError::Hashing`].
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
    /// [`DeskError::Database`]; [`DeskError::Hashing`], which says nothing about the password.
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

    /// Whether the password that was shown is still the user's. To be asked once a session stands that it opened: whoever
    /// sets another password ends the sessions that stand by then, and neither may miss the other.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
    pub async fn still_counts(&self, authenticated: &Authenticated) -> Result<bool, DeskError> {
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

    /// Gives the user another password, unless the one that was shown is theirs no more: of any number of changes by one
    /// password exactly one is `true`. Their sessions are the caller's to end, afterwards.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`], [`DeskError::Hashing`]; the password stays as it was.
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

    /// The costly half of [`set_password`](Self::set_password): to be done before anything is spent on the other.
    ///
    /// # Errors
    ///
    /// [`DeskError::Hashing`].
    pub async fn hash_password(
        &self,
        place: HashingPlace,
        password: PasswordText,
    ) -> Result<HashedPassword, DeskError> {
        Ok(self.hashing.hash_chosen(place, password).await?)
    }

    /// A place among the passwords that wait to be hashed. To be had before an attempt is counted: what is not looked at is none.
    ///
    /// # Errors
    ///
    /// [`DeskError::Hashing`] when so many wait that this one would wait too long.
    pub fn hashing_place(&self) -> Result<HashingPlace, DeskError> {
        Ok(self.hashing.place()?)
    }

    /// Gives the user of this subject another password, whatever it was, as a letter lets them. Their sessions are the
    /// caller's to end, afterwards.
    ///
    /// # Errors
    ///
    /// [`DeskError::Database`].
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

    /// Whatever is hashed from now on fails.
    #[cfg(test)]
    pub(crate) fn stop_hashing(&self) {
        self.hashing.close();
    }
}
