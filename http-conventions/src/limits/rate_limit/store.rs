//! Where buckets are kept.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use super::{Spend, State, decide};
use crate::ports::StoreError;

/// Keeps the bucket of each caller under each policy.
///
/// # What an implementation must guarantee
///
/// - [`spend`](Self::spend) is one atomic step over all its buckets: of any number of concurrent calls exactly as many pass as
///   there are units, and one that does not pass has taken nothing anywhere.
/// - What passes is decided by [`passes`] on the states that are stored at that instant, and by nothing else: the caller's `now`,
///   no clock of the store.
/// - States are exact to the nanosecond. A bucket may be forgotten once its state has passed, as it is full then; a store that
///   many machines use waits some minutes more, for those whose clocks are behind.
/// - It grows with the buckets that are in use, or not at all; never with how often a bucket is used.
///
/// Buckets need not outlive a crash: a limit that begins anew lets one burst more pass.
///
/// `http_conventions_conformance::rate_limit_store!` checks this.
#[async_trait]
pub trait RateLimitStore: Send + Sync {
    /// Takes from all buckets, or from none: loads their states, and if [`passes`] says so, writes what each became.
    ///
    /// The answer is the states as they were before, in the order of `spends`. Each bucket comes once.
    ///
    /// # Errors
    ///
    /// When the store failed; whether anything was taken is not known then.
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError>;
}

#[async_trait]
impl<S: RateLimitStore + ?Sized> RateLimitStore for Arc<S> {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        (**self).spend(spends, now).await
    }
}

/// What becomes of the buckets in these states, in the order of the spends: the states to write if all of them allow theirs.
/// Where there are fewer states than spends, the rest is full.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use http_conventions::limits::{passes, Policy, Quota, State};
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let one = Policy::new("one", Quota::per(1, Duration::from_secs(1))?)?;
/// let two = Policy::new("two", Quota::per(2, Duration::from_secs(1))?)?;
/// let spends = [one.spend("user-7"), two.spend("user-7")];
///
/// let first = passes(&[State::default(); 2], &spends, now).ok_or("all are full")?;
/// // the second would have one left; it keeps it
/// assert_eq!(passes(&first, &spends, now), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn passes(states: &[State], spends: &[Spend<'_>], now: SystemTime) -> Option<Vec<State>> {
    let states = states.iter().copied().chain(std::iter::repeat(State::default()));
    let after = spends.iter().zip(states).map(|(spend, state)| {
        match decide(state, spend.policy().quota(), spend.cost(), now) {
            super::RateLimitDecision::Allowed { state } => Some(state),
            super::RateLimitDecision::Denied { .. } => None,
        }
    });
    after.collect()
}
