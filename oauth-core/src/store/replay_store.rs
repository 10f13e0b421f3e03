use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::ports::StoreError;
use crate::secret::TokenHash;

/// Outcome of [`ReplayStore::insert_once`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum SpendOutcome {
    /// The key was unknown and is now stored.
    Fresh,
    /// The key is already stored: the request is a replay. Nothing changed.
    Seen,
}

/// Store for replay detection. It keeps a key for each used `jti` until the key expires: for the
/// `jti` of client assertions, [RFC 7523 §3](https://www.rfc-editor.org/rfc/rfc7523#section-3), and
/// of DPoP proofs, [RFC 9449 §11.1](https://www.rfc-editor.org/rfc/rfc9449#section-11.1).
///
/// The caller derives the key as a hash of the purpose, the sender and the `jti`, so that the keys
/// of different senders never collide. The caller stores a key **after** all other checks, so that
/// refused requests cost no row.
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - Of any number of concurrent callers that present a key which is not stored, exactly one gets
///   `Fresh`, even during a purge.
/// - A key is stored while `now < expires_at`. Presenting it again does not extend its expiry.
/// - A full store returns an error. A store that deletes keys to make room allows replays.
#[async_trait]
pub trait ReplayStore: Send + Sync {
    /// Stores `key` until `expires_at`, if it is not stored yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored, or the key was stored and the response was lost. The
    /// client must retry with a new `jti`.
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError>;

    /// Deletes the keys with `expires_at <= now` and returns their number.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: ReplayStore + ?Sized> ReplayStore for Arc<S> {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        (**self).insert_once(key, expires_at, now).await
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).purge_replays(now).await
    }
}
