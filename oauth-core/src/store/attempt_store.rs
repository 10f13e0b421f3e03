use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::attempts::{Admission, AttemptKey, AttemptPolicy};
use crate::ports::StoreError;

/// Store of counted attempts at secrets and passwords, for the rate limits of
/// [`attempts`](crate::attempts).
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - `admit` is one atomic step: concurrent callers together get no more admissions than the policy
///   allows. [`AttemptPolicy::decide`] makes the decision; the store calls it with the row locked.
/// - `standing` is ordered with `admit`: it takes the same path at the same speed. A read from a
///   replica, or a read that overtakes concurrent counting, would reveal whether a guess was right
///   while the key is locked out.
/// - The memory that hostile keys can take is bounded. A full store evicts the tallies with the
///   fewest attempts first, and evicts no locked tally while an unlocked one is left.
/// - The store may forget tallies at a restart. It never refuses because of a tally that was
///   forgotten or forgiven.
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Counts one attempt and admits it, or refuses it without counting.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the attempt was not counted or the response was lost. The caller then
    /// makes no attempt.
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError>;

    /// Checks without counting whether an attempt would be admitted.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError>;

    /// Deletes the tally of `key` after a correct attempt.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError>;

    /// Deletes the tallies that are [forgotten](crate::attempts::Tally::is_forgotten) and returns
    /// their number.
    ///
    /// Call it on a timer. A store without a bound of its own grows until this call, because
    /// clients choose the keys.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
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
