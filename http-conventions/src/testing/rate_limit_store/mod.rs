//! What every [`RateLimitStore`] must do, as test cases.
//!
//! ```
//! mod conformance {
//!     use http_conventions::rate_limit::MemoryRateLimitStore;
//!
//!     http_conventions::testing::rate_limit_store!(#[tokio::test] MemoryRateLimitStore::default());
//! }
//! ```
//!
//! The expression makes a fresh store for each test, inside an `async fn`. Races run on threads of their own and block the
//! calling one: a store that needs the runtime's help to answer wants a multi-threaded runtime.

use std::time::{Duration, SystemTime};

use crate::rate_limit::{Policy, Quota, RateLimitStore, Spend, passes};

mod buckets;
mod races;

pub use self::{
    buckets::{
        a_bucket_is_full_until_it_is_used, a_clock_that_steps_back_gives_nothing, a_cost_takes_so_many_units,
        a_refused_request_takes_nothing, a_request_takes_from_all_buckets_or_none,
        a_state_keeps_its_nanoseconds, buckets_do_not_touch_each_other, hostile_names_are_names,
        the_largest_quota_and_the_furthest_times_are_kept, units_come_back_at_their_exact_instants,
    },
    races::{
        exactly_the_burst_passes_of_thirty_two, of_thirty_two_over_two_buckets_the_smaller_decides,
        opposite_orders_wait_in_no_circle,
    },
};

const SECOND: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_nanos(1);

/// One named test for each case, for the store that the expression makes.
#[doc(hidden)]
#[macro_export]
macro_rules! __rate_limit_store {
    ($(#[$test:meta])+ $store:expr) => {
        $crate::__rate_limit_store! { @cases [$(#[$test])+] $store =>
            a_bucket_is_full_until_it_is_used
            units_come_back_at_their_exact_instants
            a_state_keeps_its_nanoseconds
            a_cost_takes_so_many_units
            a_refused_request_takes_nothing
            a_request_takes_from_all_buckets_or_none
            buckets_do_not_touch_each_other
            hostile_names_are_names
            a_clock_that_steps_back_gives_nothing
            the_largest_quota_and_the_furthest_times_are_kept
            exactly_the_burst_passes_of_thirty_two
            of_thirty_two_over_two_buckets_the_smaller_decides
            opposite_orders_wait_in_no_circle
        }
    };
    (@cases $tests:tt $store:expr => $($case:ident)+) => {
        $($crate::__rate_limit_store! { @case $tests $store => $case })+
    };
    (@case [$($test:tt)+] $store:expr => $case:ident) => {
        $($test)+
        async fn $case() {
            let store = $store;
            $crate::testing::rate_limit_store::$case(&store).await;
        }
    };
}

/// No whole microsecond, so that a store which cuts times shows it.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(1_800_000_000_123_456_789)
}

/// So many a second, all at once.
#[expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]
fn policy(name: &str, limit: u32) -> Policy {
    Policy::new(name, Quota::per(limit, SECOND).unwrap()).unwrap()
}

/// Whether the request passed, by what the store found.
#[expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]
async fn passed(store: &dyn RateLimitStore, spends: &[Spend<'_>], now: SystemTime) -> bool {
    let states = store.spend(spends, now).await.unwrap();
    assert_eq!(states.len(), spends.len(), "one state for each bucket");
    passes(&states, spends, now).is_some()
}

/// How many of so many requests passed.
async fn count(store: &dyn RateLimitStore, spend: Spend<'_>, tries: u32, now: SystemTime) -> u32 {
    let mut count = 0;
    for _ in 0..tries {
        count += u32::from(passed(store, &[spend], now).await);
    }
    count
}
