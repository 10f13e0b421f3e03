//! Port for the storage of buckets.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use super::{Spend, State, decide};
use crate::ports::StoreError;

/// Stores the bucket of each partition under each policy.
///
/// # Contract
///
/// - [`spend`](Self::spend) is one atomic step over all its buckets. Of concurrent calls, exactly
///   as many pass as there are units. A call that does not pass takes nothing from any bucket.
/// - [`decide_all`] alone decides, on the states that are stored at that instant and on the `now`
///   of the call. The store does not use a clock of its own.
/// - States are exact to the nanosecond.
/// - A bucket may be deleted once its state has passed, because it is full then. A store that
///   several machines share keeps it some minutes longer: their clocks may differ.
/// - The memory grows with the number of buckets that are not full, never with the number of
///   requests.
/// - Buckets need not survive a crash: an empty store allows one more burst.
///
/// `http_conventions_conformance::rate_limit_store!` checks an implementation.
#[async_trait]
pub trait RateLimitStore: Send + Sync {
    /// Takes from all buckets or from none.
    ///
    /// Loads the states, calls [`decide_all`], and writes the new states if all buckets allow the
    /// request. Returns the states before the call, in the order of `spends`. Each bucket occurs
    /// once.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed. The buckets may or may not have changed.
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError>;
}

#[async_trait]
impl<S: RateLimitStore + ?Sized> RateLimitStore for Arc<S> {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        (**self).spend(spends, now).await
    }
}

/// New states of the buckets in the order of the spends; `None` if one of them refuses.
///
/// If `states` is shorter than `spends`, the missing states count as full buckets.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use http_conventions::limits::{decide_all, Policy, Quota, State};
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let one = Policy::new("one", Quota::per(1, Duration::from_secs(1))?)?;
/// let two = Policy::new("two", Quota::per(2, Duration::from_secs(1))?)?;
/// let spends = [one.spend("user-7"), two.spend("user-7")];
///
/// let first = decide_all(&[State::default(); 2], &spends, now).ok_or("all are full")?;
/// // the first bucket is empty, so the second keeps its unit
/// assert_eq!(decide_all(&first, &spends, now), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn decide_all(states: &[State], spends: &[Spend<'_>], now: SystemTime) -> Option<Vec<State>> {
    let states = states.iter().copied().chain(std::iter::repeat(State::default()));
    let after = spends.iter().zip(states).map(|(spend, state)| {
        match decide(state, spend.policy().quota(), spend.cost(), now) {
            super::RateLimitDecision::Allowed { state } => Some(state),
            super::RateLimitDecision::Denied { .. } => None,
        }
    });
    after.collect()
}
