//! Values and calls of the cases.

use std::time::{Duration, SystemTime};

use http_conventions::limits::{Policy, Quota, RateLimitStore, Spend, decide_all};

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const TICK: Duration = Duration::from_nanos(1);

/// A time with nanoseconds, so that a store that truncates times fails.
pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(1_800_000_000_123_456_789)
}

/// A policy of `limit` units a second, with a burst of `limit`.
pub(super) fn policy(name: &str, limit: u32) -> Policy {
    Policy::new(name, Quota::per(limit, SECOND).unwrap()).unwrap()
}

/// Returns `true` if the request passed, by the states that the store returned.
pub(super) async fn passed(store: &dyn RateLimitStore, spends: &[Spend<'_>], now: SystemTime) -> bool {
    let states = store.spend(spends, now).await.unwrap();
    assert_eq!(states.len(), spends.len(), "one state for each bucket");
    decide_all(&states, spends, now).is_some()
}

/// The number of requests that passed of `tries`.
pub(super) async fn count(store: &dyn RateLimitStore, spend: Spend<'_>, tries: u32, now: SystemTime) -> u32 {
    let mut count = 0;
    for _ in 0..tries {
        count += u32::from(passed(store, &[spend], now).await);
    }
    count
}
