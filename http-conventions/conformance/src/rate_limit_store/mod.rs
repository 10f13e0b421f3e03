mod fixture;

#[host_ports_conformance::kit(rate_limit_store)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use host_ports_conformance::{RACERS, race};
    use http_conventions::limits::{Policy, Quota, RateLimitStore, State};

    use super::fixture::{SECOND, TICK, count, passed, policy, start};

    /// An unused bucket allows its burst and no more.
    pub async fn unused_bucket_is_full(store: &Arc<dyn RateLimitStore>) {
        let policy = policy("user", 5);
        assert_eq!(count(&**store, policy.spend("ada"), 7, start()).await, 5);
    }

    /// Each unit becomes available at its exact time, not a nanosecond before.
    pub async fn units_return_at_their_exact_instants(store: &Arc<dyn RateLimitStore>) {
        let policy = policy("user", 4);
        let (spend, quarter) = (policy.spend("ada"), SECOND / 4);
        assert_eq!(count(&**store, spend, 5, start()).await, 4);
        for number in 1..=6 {
            let comes_back = start() + quarter * number;
            assert!(!passed(&**store, &[spend], comes_back - TICK).await, "{number}");
            assert!(passed(&**store, &[spend], comes_back).await, "{number}");
        }
        assert_eq!(count(&**store, spend, 5, start() + SECOND * 10).await, 4);
    }

    /// The store returns states as they were written, exact to the nanosecond.
    pub async fn state_keeps_its_nanoseconds(store: &Arc<dyn RateLimitStore>) {
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

    /// A request takes as many units as its cost; a cost above the burst takes the whole burst.
    pub async fn cost_takes_that_many_units(store: &Arc<dyn RateLimitStore>) {
        let policy = policy("user", 10);
        let spend = policy.spend("ada");
        assert!(passed(&**store, &[spend.with_cost(7)], start()).await);
        assert!(!passed(&**store, &[spend.with_cost(4)], start()).await);
        assert!(passed(&**store, &[spend.with_cost(0)], start()).await);
        assert!(passed(&**store, &[spend.with_cost(3)], start()).await);
        assert!(!passed(&**store, &[spend], start()).await);
        let full = start() + SECOND;
        assert!(!passed(&**store, &[spend.with_cost(u32::MAX)], full - TICK).await);
        assert!(passed(&**store, &[spend.with_cost(u32::MAX)], full).await);
        assert!(!passed(&**store, &[spend], full).await);
    }

    /// A denied request changes no state, however often it is repeated.
    pub async fn denied_request_takes_nothing(store: &Arc<dyn RateLimitStore>) {
        let policy = policy("user", 1);
        let spend = policy.spend("ada");
        assert_eq!(count(&**store, spend, 20, start()).await, 1);
        assert_eq!(count(&**store, spend, 20, start() + SECOND - TICK).await, 0);
        assert_eq!(count(&**store, spend, 20, start() + SECOND).await, 1);
    }

    /// If one bucket denies a request, the others do not change, whichever bucket denies it.
    pub async fn request_takes_from_all_buckets_or_none(store: &Arc<dyn RateLimitStore>) {
        let (wide, narrow) = (policy("wide", 10), policy("narrow", 1));
        let (wide, narrow) = (wide.spend("ada"), narrow.spend("ada"));
        assert!(passed(&**store, &[wide, narrow], start()).await);
        for spends in [[wide, narrow], [narrow, wide]] {
            for _ in 0..3 {
                assert!(!passed(&**store, &spends, start()).await);
            }
        }
        assert_eq!(count(&**store, wide, 12, start()).await, 9);
        let found = store.spend(&[narrow, wide], start()).await.unwrap();
        let full_at = [1_000_000_000, 1_000_000_000].map(|rest| 1_800_000_000_123_456_789 + rest);
        assert_eq!(
            found,
            full_at.map(State::from_nanoseconds),
            "in the order that was asked"
        );
    }

    /// Requests for other partitions or policies take nothing from a bucket.
    pub async fn buckets_are_independent(store: &Arc<dyn RateLimitStore>) {
        let (policy, other) = (policy("user", 2), policy("use", 2));
        let strangers: Vec<String> = (0..200).map(|number| format!("stranger-{number}")).collect();
        assert_eq!(count(&**store, policy.spend("ada"), 3, start()).await, 2);
        assert_eq!(count(&**store, other.spend("rada"), 3, start()).await, 2);
        assert_eq!(count(&**store, other.spend("ada"), 3, start()).await, 2);
        for stranger in &strangers {
            assert!(
                passed(&**store, &[policy.spend(stranger)], start()).await,
                "{stranger}"
            );
        }
        assert_eq!(count(&**store, policy.spend("ada"), 3, start()).await, 0);
        for stranger in &strangers {
            assert_eq!(
                count(&**store, policy.spend(stranger), 2, start()).await,
                1,
                "{stranger}"
            );
        }
    }

    /// Partition names that are empty, long, or special in SQL, JSON or Lua name one bucket each.
    pub async fn hostile_partition_names_are_distinct(store: &Arc<dyn RateLimitStore>) {
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
                passed(&**store, &[policy.spend(name)], start()).await,
                "{}",
                name.escape_debug()
            );
        }
        for name in names {
            assert!(
                !passed(&**store, &[policy.spend(name)], start()).await,
                "{}",
                name.escape_debug()
            );
        }
    }

    /// A clock that is set back by up to 60 s returns no units. After a larger step an empty bucket
    /// counts as full.
    pub async fn clock_stepping_back_returns_no_units(store: &Arc<dyn RateLimitStore>) {
        const SKEW: Duration = Duration::from_secs(60);
        let policy = policy("user", 3);
        let spend = policy.spend("ada");
        assert_eq!(count(&**store, spend, 4, start()).await, 3);
        for step in [TICK, SECOND, SKEW] {
            assert_eq!(count(&**store, spend, 2, start() - step).await, 0, "{step:?}");
        }
        assert_eq!(
            count(&**store, spend, 2, start() + SECOND / 3).await,
            0,
            "333,333,334 ns make a unit"
        );
        assert_eq!(count(&**store, spend, 2, start() + SECOND / 3 + TICK).await, 1);
        // a permanent step: callers do not wait for the old time to come again
        assert_eq!(count(&**store, spend, 4, start() - SKEW * 2).await, 3);
    }

    /// Decisions are exact for a period of ten years, and for very early and very late times.
    pub async fn largest_quota_and_furthest_times_are_kept(store: &Arc<dyn RateLimitStore>) {
        let years = Duration::from_secs(10 * 365 * 24 * 60 * 60);
        let slow = Policy::new("slow", Quota::per(1, years).unwrap()).unwrap();
        let fast = Quota::per(1_000_000_000, SECOND).unwrap().with_burst(2).unwrap();
        let fast = Policy::new("fast", fast).unwrap();
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        for (number, now) in [start(), SystemTime::UNIX_EPOCH, far].into_iter().enumerate() {
            let name = number.to_string();
            assert_eq!(count(&**store, slow.spend(&name), 2, now).await, 1, "{now:?}");
            assert_eq!(count(&**store, fast.spend(&name), 3, now).await, 2, "{now:?}");
        }
        let once = slow.spend("0");
        assert!(!passed(&**store, &[once], start() + years - TICK).await);
        assert!(passed(&**store, &[once], start() + years).await);
        assert!(passed(&**store, &[fast.spend("0")], start() + TICK).await);
        assert!(!passed(&**store, &[fast.spend("0")], start() + TICK).await);
        assert!(passed(&**store, &[fast.spend("before")], SystemTime::UNIX_EPOCH - years).await);
    }

    fn won(passed: &[bool]) -> usize {
        passed.iter().filter(|passed| **passed).count()
    }

    /// X5: of 32 concurrent requests, exactly as many pass as the burst allows.
    pub async fn burst_passes_of_32_requests(store: &Arc<dyn RateLimitStore>) {
        let policy = policy("user", 10);
        let raced = policy.clone();
        let results = race(store, async move |store, _| {
            passed(&*store, &[raced.spend("ada")], start()).await
        })
        .await;
        assert_eq!(won(&results), 10, "{results:?}");
        assert_eq!(count(&**store, policy.spend("ada"), 2, start()).await, 0);
    }

    /// Of 32 concurrent requests to two buckets, as many pass as the smaller burst allows, and the
    /// larger bucket keeps its other units.
    pub async fn smaller_of_two_buckets_limits_32_requests(store: &Arc<dyn RateLimitStore>) {
        let (wide, narrow) = (policy("wide", 30), policy("narrow", 7));
        let raced = wide.clone();
        let results = race(store, async move |store, _| {
            let spends = [raced.spend("ada"), narrow.spend("ada")];
            passed(&*store, &spends, start()).await
        })
        .await;
        assert_eq!(won(&results), 7, "{results:?}");
        assert_eq!(count(&**store, wide.spend("ada"), 32, start()).await, 23);
    }

    /// Concurrent requests list two buckets in opposite orders: each request gets a decision, and
    /// no unit is lost.
    pub async fn opposite_bucket_orders_do_not_deadlock(store: &Arc<dyn RateLimitStore>) {
        let (left, right) = (policy("left", 40), policy("right", 40));
        for _ in 0..4 {
            let raced = (left.clone(), right.clone());
            let results = race(store, async move |store, racer| {
                let (left, right) = (raced.0.spend("ada"), raced.1.spend("ada"));
                match racer % 4 {
                    0 | 1 => passed(&*store, &[left, right], start()).await,
                    2 => passed(&*store, &[right, left], start()).await,
                    _ => passed(&*store, &[right.with_cost(0), left.with_cost(0)], start()).await,
                }
            })
            .await;
            assert_eq!(results.len(), RACERS);
        }
        let (left, right) = (left.spend("ada"), right.spend("ada"));
        // three quarters of 128 requests take one unit of each
        assert_eq!(count(&**store, left, 2, start()).await, 0);
        assert_eq!(count(&**store, right, 2, start()).await, 0);
    }
}

pub use cases::*;
