//! One call after the other: units, instants, names.

#![expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]

use std::time::{Duration, SystemTime};

use super::{SECOND, TICK, count, passed, policy, start};
use crate::rate_limit::{Policy, Quota, RateLimitStore, State};

/// A bucket that nobody used lets its burst pass, and no more.
pub async fn a_bucket_is_full_until_it_is_used(store: &dyn RateLimitStore) {
    let policy = policy("user", 5);
    assert_eq!(count(store, policy.spend("ada"), 7, start()).await, 5);
}

/// Each unit comes back at its instant, not a nanosecond before.
pub async fn units_come_back_at_their_exact_instants(store: &dyn RateLimitStore) {
    let policy = policy("user", 4);
    let (spend, quarter) = (policy.spend("ada"), SECOND / 4);
    assert_eq!(count(store, spend, 5, start()).await, 4);
    for number in 1..=6 {
        let comes_back = start() + quarter * number;
        assert!(!passed(store, &[spend], comes_back - TICK).await, "{number}");
        assert!(passed(store, &[spend], comes_back).await, "{number}");
    }
    assert_eq!(count(store, spend, 5, start() + SECOND * 10).await, 4);
}

/// What a store gives back is what was written, to the nanosecond.
pub async fn a_state_keeps_its_nanoseconds(store: &dyn RateLimitStore) {
    let policy = policy("user", 7);
    let spends = [policy.spend("ada")];
    let before = store.spend(&spends, start()).await.unwrap();
    assert!(
        before.iter().all(|state| state.as_nanoseconds() == 0),
        "{before:?}"
    );
    let found = store.spend(&spends, start()).await.unwrap();
    let written = 1_800_000_000_123_456_789 + 142_857_143;
    assert_eq!(found, [State::from_nanoseconds(written)]);
}

/// A request takes what it costs; nothing, where it costs nothing; the whole burst, where it costs more than that.
pub async fn a_cost_takes_so_many_units(store: &dyn RateLimitStore) {
    let policy = policy("user", 10);
    let spend = policy.spend("ada");
    assert!(passed(store, &[spend.with_cost(7)], start()).await);
    assert!(!passed(store, &[spend.with_cost(4)], start()).await);
    assert!(passed(store, &[spend.with_cost(0)], start()).await);
    assert!(passed(store, &[spend.with_cost(3)], start()).await);
    assert!(!passed(store, &[spend], start()).await);
    let full = start() + SECOND;
    assert!(!passed(store, &[spend.with_cost(u32::MAX)], full - TICK).await);
    assert!(passed(store, &[spend.with_cost(u32::MAX)], full).await);
    assert!(!passed(store, &[spend], full).await);
}

/// However often it is refused, a request passes when its unit is back.
pub async fn a_refused_request_takes_nothing(store: &dyn RateLimitStore) {
    let policy = policy("user", 1);
    let spend = policy.spend("ada");
    assert_eq!(count(store, spend, 20, start()).await, 1);
    assert_eq!(count(store, spend, 20, start() + SECOND - TICK).await, 0);
    assert_eq!(count(store, spend, 20, start() + SECOND).await, 1);
}

/// One bucket that refuses keeps the others whole, wherever it stands among them.
pub async fn a_request_takes_from_all_buckets_or_none(store: &dyn RateLimitStore) {
    let (wide, narrow) = (policy("wide", 10), policy("narrow", 1));
    let (wide, narrow) = (wide.spend("ada"), narrow.spend("ada"));
    assert!(passed(store, &[wide, narrow], start()).await);
    for spends in [[wide, narrow], [narrow, wide]] {
        for _ in 0..3 {
            assert!(!passed(store, &spends, start()).await);
        }
    }
    assert_eq!(count(store, wide, 12, start()).await, 9);
    let found = store.spend(&[narrow, wide], start()).await.unwrap();
    let full_at = [1_000_000_000, 1_000_000_000].map(|rest| 1_800_000_000_123_456_789 + rest);
    assert_eq!(
        found,
        full_at.map(State::from_nanoseconds),
        "in the order that was asked"
    );
}

/// Neither another partition, nor another policy, nor two hundred strangers take from a bucket.
pub async fn buckets_do_not_touch_each_other(store: &dyn RateLimitStore) {
    let (policy, other) = (policy("user", 2), policy("use", 2));
    let strangers: Vec<String> = (0..200).map(|number| format!("stranger-{number}")).collect();
    assert_eq!(count(store, policy.spend("ada"), 3, start()).await, 2);
    assert_eq!(count(store, other.spend("rada"), 3, start()).await, 2);
    assert_eq!(count(store, other.spend("ada"), 3, start()).await, 2);
    for stranger in &strangers {
        assert!(
            passed(store, &[policy.spend(stranger)], start()).await,
            "{stranger}"
        );
    }
    assert_eq!(count(store, policy.spend("ada"), 3, start()).await, 0);
    for stranger in &strangers {
        assert_eq!(
            count(store, policy.spend(stranger), 2, start()).await,
            1,
            "{stranger}"
        );
    }
}

/// Names that are empty, long, or full of what means something elsewhere are names like any other.
pub async fn hostile_names_are_names(store: &dyn RateLimitStore) {
    let policy = policy("user", 1);
    let (long, longer) = ("a".repeat(1 << 16), "a".repeat((1 << 16) + 1));
    let names = [
        "",
        " ",
        "\0",
        "\0\0",
        "a",
        "A",
        "a\0",
        "a\n",
        "á",
        "a\u{301}",
        "'",
        "'; DROP TABLE x; --",
        "{a}",
        "}:{",
        "%s",
        "*",
        "1",
        "01",
        ":",
        "::",
        "\u{10FFFF}",
        "user",
        &long,
        &longer,
    ];
    for name in names {
        assert!(
            passed(store, &[policy.spend(name)], start()).await,
            "{}",
            name.escape_debug()
        );
    }
    for name in names {
        assert!(
            !passed(store, &[policy.spend(name)], start()).await,
            "{}",
            name.escape_debug()
        );
    }
}

/// A clock that steps back gives nothing, and whoever waits for it waits a minute over the burst at most.
pub async fn a_clock_that_steps_back_gives_nothing(store: &dyn RateLimitStore) {
    const SKEW: Duration = Duration::from_secs(60);
    let policy = policy("user", 3);
    let spend = policy.spend("ada");
    assert_eq!(count(store, spend, 4, start()).await, 3);
    for step in [TICK, SECOND, SKEW] {
        assert_eq!(count(store, spend, 2, start() - step).await, 0, "{step:?}");
    }
    assert_eq!(
        count(store, spend, 2, start() + SECOND / 3).await,
        0,
        "333,333,334 ns make a unit"
    );
    assert_eq!(count(store, spend, 2, start() + SECOND / 3 + TICK).await, 1);
    // set back for good: 60 seconds are not waited for twice
    assert_eq!(count(store, spend, 4, start() - SKEW * 2).await, 3);
}

/// Quotas of years and times at the ends of what clocks say are kept as they are.
pub async fn the_largest_quota_and_the_furthest_times_are_kept(store: &dyn RateLimitStore) {
    let years = Duration::from_secs(10 * 365 * 24 * 60 * 60);
    let slow = Policy::new("slow", Quota::per(1, years).unwrap()).unwrap();
    let fast = Quota::per(1_000_000_000, SECOND).unwrap().with_burst(2).unwrap();
    let fast = Policy::new("fast", fast).unwrap();
    let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
    for (number, now) in [start(), SystemTime::UNIX_EPOCH, far].into_iter().enumerate() {
        let name = number.to_string();
        assert_eq!(count(store, slow.spend(&name), 2, now).await, 1, "{now:?}");
        assert_eq!(count(store, fast.spend(&name), 3, now).await, 2, "{now:?}");
    }
    let once = slow.spend("0");
    assert!(!passed(store, &[once], start() + years - TICK).await);
    assert!(passed(store, &[once], start() + years).await);
    assert!(passed(store, &[fast.spend("0")], start() + TICK).await);
    assert!(!passed(store, &[fast.spend("0")], start() + TICK).await);
    assert!(passed(store, &[fast.spend("before")], SystemTime::UNIX_EPOCH - years).await);
}
