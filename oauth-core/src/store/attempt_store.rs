use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::attempts::{Admission, AttemptKey, AttemptPolicy};
use crate::ports::StoreError;

/// Store of the attempt counts (tallies) for the rate limits of [`attempts`](crate::attempts).
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - `admit` is one atomic step: concurrent callers together get no more admissions than the policy
///   allows. The store calls [`AttemptPolicy::decide`] while it holds the lock of the row.
/// - `standing` reads the primary database, never a replica. It takes about the same time as
///   `admit`, and waits for a concurrent `admit` of the same key. The server calls `admit` after a
///   wrong guess and `standing` after a correct guess, so a difference in time or order would
///   reveal correct guesses during a lock-out.
/// - A store in memory has a capacity, because attackers choose the keys. A full store first evicts
///   tallies without a running wait, and among these the tallies with the fewest attempts.
/// - The store may lose tallies at a restart. A [forgotten](crate::attempts::Tally::is_forgotten)
///   or [forgiven](Self::forgive) tally never causes a refusal.
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Counts one attempt and admits it, or refuses the attempt without counting it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the attempt was not counted, or was counted and the response was lost.
    /// The caller must then not make the attempt.
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError>;

    /// Returns the decision on an attempt, without counting the attempt.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError>;

    /// Deletes the tally of `key` after a correct attempt.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError>;

    /// Deletes the tallies that are [forgotten](crate::attempts::Tally::is_forgotten) and returns
    /// their number.
    ///
    /// Call it on a timer: an unbounded store grows until this call, because clients choose the
    /// keys.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn purge_attempts(&self, now: SystemTime) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: AttemptStore + ?Sized> AttemptStore for Arc<S> {
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError> {
        (**self).admit(key, policy, now).await
    }

    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError> {
        (**self).standing(key, now).await
    }

    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError> {
        (**self).forgive(key).await
    }

    async fn purge_attempts(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).purge_attempts(now).await
    }
}
