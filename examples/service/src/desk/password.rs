//! Passwords: validation and hashing with Argon2id.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use argon2::password_hash::{self, phc::PasswordHash};
use thiserror::Error;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, spawn_blocking};
use zeroize::Zeroizing;

use super::argon2id::Memory;

/// Number of passwords hashed in parallel. It limits the CPU time and memory that many sign-ins
/// use.
const HASHED_AT_ONCE: usize = 2;

/// Number of passwords that can wait to be hashed, about one second of work. Further ones are
/// refused.
const WAITING: usize = 32;

/// A valid new password: at least 12 characters and at most 1,024 bytes of UTF-8.
#[derive(Clone)]
pub struct PasswordText(Zeroizing<String>);

/// Reason why a password is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidPassword {
    /// Fewer than [`PasswordText::SHORTEST`] characters.
    #[error("the password is too short")]
    TooShort,
    /// More than [`PasswordText::LONGEST`] bytes.
    #[error("the password is too long")]
    TooLong,
}

impl PasswordText {
    /// Minimum length in characters.
    pub const SHORTEST: usize = 12;
    /// Maximum length in bytes.
    pub const LONGEST: usize = 1024;
}

impl FromStr for PasswordText {
    type Err = InvalidPassword;

    fn from_str(text: &str) -> Result<Self, InvalidPassword> {
        if text.len() > Self::LONGEST {
            Err(InvalidPassword::TooLong)
        } else if text.chars().count() < Self::SHORTEST {
            Err(InvalidPassword::TooShort)
        } else {
            Ok(Self(Zeroizing::new(text.to_owned())))
        }
    }
}

impl fmt::Debug for PasswordText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordText([redacted])")
    }
}

/// A password hash with its own salt. Two hashes of one password differ.
#[derive(Clone, PartialEq, Eq)]
pub struct HashedPassword(String);

impl HashedPassword {
    pub(super) const fn stored(text: String) -> Self {
        Self(text)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for HashedPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashedPassword([redacted])")
    }
}

/// Reason why a password was not hashed or compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HashingError {
    /// The hash function failed: no memory, no entropy, or an invalid stored hash.
    #[error("the hash function failed")]
    Function(#[from] password_hash::Error),
    /// The task was cancelled or panicked.
    #[error("the hashing task was cancelled or panicked")]
    Task(#[from] JoinError),
    /// All 34 places of the queue are taken.
    #[error("the hashing queue is full")]
    Busy,
    /// The service is stopping.
    #[error("the service is stopping")]
    Closed(#[from] AcquireError),
}

/// A place in the queue for hashing, released on drop. There are 34 places: two for passwords that
/// are being hashed, 32 for passwords that wait.
#[derive(Debug)]
#[must_use]
pub struct HashingPlace(OwnedSemaphorePermit);

/// Hashes at most two passwords in parallel.
#[derive(Clone, Debug)]
pub(super) struct Hashing {
    turns: Arc<Semaphore>,
    /// Permits of queued and running hashes.
    places: Arc<Semaphore>,
    memory: Memory,
}

impl Default for Hashing {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(HASHED_AT_ONCE)),
            places: Arc::new(Semaphore::new(HASHED_AT_ONCE + WAITING)),
            memory: Memory::default(),
        }
    }
}

impl Hashing {
    /// Reserves a place for one password, or returns [`HashingError::Busy`].
    pub(super) fn place(&self) -> Result<HashingPlace, HashingError> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        // this semaphore is never closed
        place.map(HashingPlace).map_err(|_| HashingError::Busy)
    }

    pub(super) async fn hash(
        &self,
        place: HashingPlace,
        password: Zeroizing<String>,
    ) -> Result<HashedPassword, HashingError> {
        let memory = self.memory.clone();
        let hash = move || memory.hash(password.as_bytes(), &crate::random::<16>());
        Ok(HashedPassword(self.off_thread(place, hash).await??.to_string()))
    }

    pub(super) async fn hash_chosen(
        &self,
        place: HashingPlace,
        password: PasswordText,
    ) -> Result<HashedPassword, HashingError> {
        self.hash(place, password.0).await
    }

    /// Returns `true` if `hash` is a hash of this password.
    pub(super) async fn verify(
        &self,
        place: HashingPlace,
        password: Zeroizing<String>,
        hash: HashedPassword,
    ) -> Result<bool, HashingError> {
        let memory = self.memory.clone();
        let verify = move || {
            let hash = PasswordHash::new(hash.as_str()).map_err(|_| password_hash::Error::EncodingInvalid)?;
            memory.verify(password.as_bytes(), &hash)
        };
        Ok(self.off_thread(place, verify).await??)
    }

    /// Runs a hash on the blocking thread pool: it takes tens of milliseconds and 19 MiB by design.
    async fn off_thread<T: Send + 'static>(
        &self,
        place: HashingPlace,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HashingError> {
        // if the caller drops this future, the place is free at once; the permit to hash is kept
        // until the work is done
        let HashingPlace(_held) = place;
        let turn = Arc::clone(&self.turns).acquire_owned().await?;
        let worked = spawn_blocking(move || {
            let worked = work();
            drop(turn);
            worked
        });
        Ok(worked.await?)
    }

    /// Makes all later hashing fail.
    #[cfg(test)]
    pub(super) fn close(&self) {
        self.turns.close();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_password_has_twelve_characters_and_up_to_1024_bytes() {
        for (text, expected) in [
            ("x".repeat(11), Err(InvalidPassword::TooShort)),
            ("x".repeat(12), Ok(())),
            // the limit counts characters, not bytes
            ("é".repeat(11), Err(InvalidPassword::TooShort)),
            ("é".repeat(12), Ok(())),
            ("é".repeat(512), Ok(())),
            ("x".repeat(1024), Ok(())),
            ("x".repeat(1025), Err(InvalidPassword::TooLong)),
            ("é".repeat(513), Err(InvalidPassword::TooLong)),
        ] {
            assert_eq!(text.parse::<PasswordText>().map(|_| ()), expected, "{text}");
        }
    }

    /// The queue for hashing is bounded, and a waiter that is dropped frees its place.
    #[tokio::test]
    async fn full_hashing_queue_refuses() {
        let hashing = Hashing::default();
        let busy = Arc::clone(&hashing.turns).acquire_many_owned(2).await.unwrap();
        let hashed = |place| Box::pin(hashing.off_thread(place, || ()));
        let mut waiting: Vec<_> = (0..HASHED_AT_ONCE + WAITING)
            .map(|_| hashed(hashing.place().unwrap()))
            .collect();
        for work in &mut waiting {
            assert!(work.now_or_never().is_none());
        }
        for _ in 0..3 {
            let refused = hashing.place();
            assert!(matches!(refused, Err(HashingError::Busy)), "{refused:?}");
        }
        waiting.pop();
        assert!(hashed(hashing.place().unwrap()).as_mut().now_or_never().is_none());
        drop((waiting, busy));
        hashed(hashing.place().unwrap()).await.unwrap();
    }

    #[tokio::test]
    async fn failing_hash_function_is_not_a_wrong_password() {
        let (hashing, password) = (Hashing::default(), || Zeroizing::new("a password".to_owned()));
        let place = || hashing.place().unwrap();
        let hash = hashing.hash(place(), password()).await.unwrap();
        assert!(hashing.verify(place(), password(), hash.clone()).await.unwrap());
        let wrong = Zeroizing::new("a passw0rd".to_owned());
        assert!(!hashing.verify(place(), wrong, hash.clone()).await.unwrap());
        let unreadable = HashedPassword::stored(String::new());
        let refused = hashing.verify(place(), password(), unreadable).await;
        assert!(matches!(refused, Err(HashingError::Function(_))), "{refused:?}");
        let panicked = hashing.off_thread(place(), || panic!("in the function")).await;
        assert!(matches!(panicked, Err::<(), _>(HashingError::Task(_))));
        // a panicked task releases its permit
        assert!(hashing.verify(place(), password(), hash.clone()).await.unwrap());
        hashing.close();
        let closed = hashing.verify(place(), password(), hash).await;
        assert!(matches!(closed, Err(HashingError::Closed(_))), "{closed:?}");
    }
}
