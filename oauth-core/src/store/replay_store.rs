use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::ports::StoreError;
use crate::secret::TokenHash;

/// What became of spending something that may be used once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum SpendOutcome {
    /// Nobody has spent it before, as far as the store remembers; from now on it is spent.
    Fresh,
    /// It was spent before and is remembered as before: this is a replay. Nothing changed.
    Seen,
}

/// Remembers which single-use names were used, for as long as they could be used again: the `jti` of a client's assertion,
/// [RFC 7523 §3](https://www.rfc-editor.org/rfc/rfc7523#section-3), and that of a proof of possession,
/// [RFC 9449 §11.1](https://www.rfc-editor.org/rfc/rfc9449#section-11.1).
///
/// The caller makes the key: a hash of what the name is for, of who gave it, and of the name itself, so that nobody spends
/// what is another's. It spends a name **after** every other check, so that what is refused anyway costs no row.
///
/// # What an implementation must guarantee
///
/// See the [module](super), and:
///
/// - Of any number of callers that spend one key while it is not remembered exactly one gets `Fresh`, also while others purge.
/// - A key is remembered while `now < expires_at`, however often it is presented; presenting it again prolongs nothing.
/// - It fails rather than forgets: a store that drops rows to make room lets assertions be replayed.
#[async_trait]
pub trait ReplayStore: Send + Sync {
    /// Spends `key`, to be remembered until `expires_at`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost. The key may be spent then: whoever presented it comes
    /// back with another.
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError>;

    /// Drops the keys with `expires_at <= now`, and answers how many those were.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
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
