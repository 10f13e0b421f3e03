//! Users and their passwords.

use zeroize::Zeroizing;

use super::{Desk, DeskError, HashedPassword, HashingPlace, PasswordText};

/// A user who can sign in.
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

/// A user who has entered the correct password. The value is valid until the password changes: see
/// [`is_current`](Desk::is_current).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Authenticated {
    /// The user.
    pub user: User,
    /// Stored hash that the password was verified against.
    verified: HashedPassword,
}

impl Desk {
    /// Registers `user`. Does nothing and returns `false` if the subject or the email address is
    /// taken.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Hashing`] if the hashing queue is full or hashing fails
    /// - [`DeskError::Store`] if the database fails
    pub async fn register_user(&self, user: User, password: PasswordText) -> Result<bool, DeskError> {
        let hash = self.hash_password(self.hashing_place()?, password).await?;
        self.store.insert_user(user, hash).await
    }

    /// Reads a user by email address.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn user_by_email(&self, email: &str) -> Result<Option<User>, DeskError> {
        let found = self.store.user_by_email(email).await?;
        Ok(found.map(|(user, _)| user))
    }

    /// Verifies a password. Returns `None` if the password is wrong or no user has the address;
    /// both cases cost the same work.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Hashing`] if the password could not be compared
    /// - [`DeskError::Store`] if the database fails
    pub async fn authenticate(
        &self,
        place: HashingPlace,
        email: &str,
        password: String,
    ) -> Result<Option<Authenticated>, DeskError> {
        let password = Zeroizing::new(password);
        match self.store.user_by_email(email).await? {
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

    /// Returns `true` if the verified password is still the user's password.
    ///
    /// # Contract
    ///
    /// The caller stores the new session first and then calls this method. A password change stores
    /// the new hash first and then ends the stored sessions. In this order, either this method
    /// returns `false` or the password change ends the new session.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn is_current(&self, authenticated: &Authenticated) -> Result<bool, DeskError> {
        let Authenticated { user, verified } = authenticated;
        self.store.has_password(&user.subject, verified).await
    }

    /// Reads a user by subject.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn user_by_subject(&self, subject: &str) -> Result<Option<User>, DeskError> {
        self.store.user_by_subject(subject).await
    }

    /// Changes the password and returns `true`. Returns `false` if the verified password is no
    /// longer the user's password. Of several concurrent changes with one password, exactly one
    /// returns `true`.
    ///
    /// # Contract
    ///
    /// The caller ends the user's sessions afterwards.
    ///
    /// # Errors
    ///
    /// The password is then unchanged.
    ///
    /// - [`DeskError::Hashing`] if the hashing queue is full or hashing fails
    /// - [`DeskError::Store`] if the database fails
    pub async fn change_password(
        &self,
        authenticated: &Authenticated,
        password: PasswordText,
    ) -> Result<bool, DeskError> {
        let hash = self.hash_password(self.hashing_place()?, password).await?;
        let Authenticated { user, verified } = authenticated;
        self.store
            .set_password(&user.subject, Some(verified), &hash)
            .await
    }

    /// Hashes a password for [`set_password`](Self::set_password). This is the slow step, and it
    /// can fail, so the caller does it before it consumes the reset token.
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

    /// Reserves a place in the queue for hashing. The caller does this before it counts a sign-in
    /// attempt, so that an attempt refused by a full queue is not counted.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Hashing`] if the queue is full.
    pub fn hashing_place(&self) -> Result<HashingPlace, DeskError> {
        Ok(self.hashing.place()?)
    }

    /// Sets the password of a user without verifying the old one, for a reset by mail. Does nothing
    /// if there is no such user.
    ///
    /// # Contract
    ///
    /// The caller ends the user's sessions afterwards.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn set_password(&self, subject: &str, password: HashedPassword) -> Result<(), DeskError> {
        self.store.set_password(subject, None, &password).await?;
        Ok(())
    }

    /// Makes all later hashing fail.
    #[cfg(test)]
    pub(crate) fn stop_hashing(&self) {
        self.hashing.close();
    }
}
