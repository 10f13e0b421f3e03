use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::attempts::{Admission, AttemptKey, AttemptPolicy};
use crate::ports::StoreError;

/// Counts attempts at secrets and passwords; see [`attempts`](crate::attempts).
///
/// # What an implementation must guarantee
///
/// See the [module](super), and:
///
/// - `admit` is one step: of any number of callers at once no more are admitted than the policy lets.
///   [`AttemptPolicy::decide`] makes the decision; the store makes it with the row locked.
/// - `standing` comes in order with `admit`, by the same way and at the same speed: one that reads from a replica, or that overtakes
///   the counting of others, tells a right guess from a wrong one behind a closed door.
/// - What hostile names can take up is bounded. A store that is full lets go of the tallies with the fewest attempts, and of none
///   that is closed while one is left that is open.
/// - It may forget at a restart; it never refuses by a tally that was forgotten or forgiven.
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Counts one attempt and admits it, or refuses it and counts nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the attempt was not counted or the answer was lost. The caller then makes no attempt.
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError>;

    /// Whether an attempt would be admitted; counts nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError>;

    /// Lets go of what was counted under the key: an admitted attempt was right.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError>;

    /// Drops the tallies that are [forgotten](crate::attempts::Tally::is_forgotten), and answers how many those were.
    ///
    /// Call it on a timer. A store that holds no bound when it counts holds none but this one, and anybody can make up names.
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
