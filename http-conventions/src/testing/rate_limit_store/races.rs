//! Thirty-two calls at once, on threads of their own.

use super::{
    super::race::{RACERS, race},
    count, passed, policy, start,
};
use crate::rate_limit::RateLimitStore;

fn won(passed: &[bool]) -> usize {
    passed.iter().filter(|passed| **passed).count()
}

/// X5: of 32 requests at once exactly as many pass as there are units.
pub async fn exactly_the_burst_passes_of_thirty_two(store: &dyn RateLimitStore) {
    let policy = policy("user", 10);
    let spends = [policy.spend("ada")];
    let results = race(|_| passed(store, &spends, start()));
    assert_eq!(won(&results), 10, "{results:?}");
    assert_eq!(count(store, policy.spend("ada"), 2, start()).await, 0);
}

/// Of 32 requests over two buckets as many pass as the smaller one has, and the larger keeps the rest.
pub async fn of_thirty_two_over_two_buckets_the_smaller_decides(store: &dyn RateLimitStore) {
    let (wide, narrow) = (policy("wide", 30), policy("narrow", 7));
    let spends = [wide.spend("ada"), narrow.spend("ada")];
    let results = race(|_| passed(store, &spends, start()));
    assert_eq!(won(&results), 7, "{results:?}");
    assert_eq!(count(store, wide.spend("ada"), 32, start()).await, 23);
}

/// Half ask for two buckets in one order, half in the other, and some for one alone: all get an answer, and no unit is lost.
pub async fn opposite_orders_wait_in_no_circle(store: &dyn RateLimitStore) {
    let (left, right) = (policy("left", 40), policy("right", 40));
    let (left, right) = (left.spend("ada"), right.spend("ada"));
    for _ in 0..4 {
        let results = race(|racer| async move {
            match racer % 4 {
                0 | 1 => passed(store, &[left, right], start()).await,
                2 => passed(store, &[right, left], start()).await,
                _ => passed(store, &[right.with_cost(0), left.with_cost(0)], start()).await,
            }
        });
        assert_eq!(results.len(), usize::from(RACERS));
    }
    // three quarters of 128 asked for a unit of each
    assert_eq!(count(store, left, 2, start()).await, 0);
    assert_eq!(count(store, right, 2, start()).await, 0);
}
