//! Rate limits: the decision against a naive model, the memory store, and the header fields.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use host_ports::testing::ManualClock;
use http::{HeaderMap, Response, StatusCode};
use http_conventions::{
    errors::{ErrorStatus, Problem, ReceivedProblem},
    limits::{
        HeaderProfile, MemoryRateLimitStore, OnStoreFailure, Policy, QUOTA_EXCEEDED, Quota,
        RateLimitDecision, RateLimitStore, RateLimiter, Spend, State, decide,
    },
    ports::StoreError,
};
use proptest::prelude::*;

mod conformance {
    use http_conventions::limits::MemoryRateLimitStore;

    http_conventions_conformance::rate_limit_store!(
        #[tokio::test]
        MemoryRateLimitStore::default()
    );
}

const SECOND: Duration = Duration::from_secs(1);

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_250)
}

fn policy(name: &str, limit: u32, period: Duration, burst: u32) -> Policy {
    let quota = Quota::per(limit, period).unwrap().with_burst(burst).unwrap();
    Policy::new(name, quota).unwrap()
}

/// All requests that passed, and the rule: in every interval up to now at most the burst plus the
/// returned units pass.
#[derive(Default)]
struct SlidingLog(Vec<(u128, u128)>);

impl SlidingLog {
    fn passes(&mut self, quota: &Quota, cost: u32, now: u128) -> bool {
        let (interval, burst) = (quota.interval().as_nanos(), u128::from(quota.burst()));
        let cost = u128::from(cost).min(burst);
        let starts = self.0.iter().map(|(at, _)| *at).chain([now]);
        let fits = |from: u128| {
            let inside = self.0.iter().filter(|(at, _)| *at >= from);
            let spent: u128 = inside.map(|(_, cost)| cost).sum::<u128>() + cost;
            spent * interval <= burst * interval + (now - from)
        };
        let passes = starts.clone().all(fits);
        if passes {
            self.0.push((now, cost));
        }
        passes
    }
}

/// The rule of [`Operation`], as other stores compute it.
fn in_numbers(state: State, quota: &Quota, cost: u32, now: SystemTime) -> bool {
    let policy = Policy::new("user", *quota).unwrap();
    let operation = policy.spend("ada").with_cost(cost).operation(now);
    let state = state.as_nanoseconds();
    let from = match state > operation.horizon {
        true => operation.now,
        false => state.max(operation.now),
    };
    from + operation.increment <= operation.latest
}

proptest! {
    /// H15: the single integer decides like the whole history.
    #[test]
    fn one_integer_decides_as_the_whole_history(
        limit in 1_u32..50,
        period in 1_u64..2_000,
        burst in 1_u32..20,
        requests in prop::collection::vec((0_u64..300, 0_u32..8), 1..80),
    ) {
        let quota = Quota::per(limit, Duration::from_nanos(period)).unwrap().with_burst(burst).unwrap();
        let (mut log, mut state, mut now) = (SlidingLog::default(), State::default(), start());
        for (later, cost) in requests {
            now += Duration::from_nanos(later);
            let decided = decide(state, &quota, cost, now);
            prop_assert_eq!(decided.is_allowed(), in_numbers(state, &quota, cost, now));
            let at = now.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
            prop_assert_eq!(decided.is_allowed(), log.passes(&quota, cost, at));
            match decided {
                RateLimitDecision::Allowed { state: after } => state = after,
                RateLimitDecision::Denied { wait } => {
                    prop_assert!(!decide(state, &quota, cost, now + wait - Duration::from_nanos(1)).is_allowed());
                    prop_assert!(decide(state, &quota, cost, now + wait).is_allowed());
                }
            }
        }
    }
}

/// H15: a million names neither grow the store nor free a caller at its limit.
#[tokio::test]
async fn the_memory_store_does_not_grow_and_keeps_who_is_at_the_limit() {
    let store = MemoryRateLimitStore::with_capacity(1_000);
    let slots = store.slots();
    assert!((2_000..4_000).contains(&slots), "{slots}");
    let policy = policy("user", 100, Duration::from_secs(100), 100);
    let at_limit = policy.spend("ada").with_cost(100);
    assert!(store.take(&at_limit, start()).is_allowed());
    for number in 0..100_000 {
        let name = format!("stranger-{number}");
        assert!(store.take(&policy.spend(&name), start()).is_allowed());
    }
    assert_eq!(store.slots(), slots);
    assert_eq!(
        store.take(&policy.spend("ada"), start()),
        RateLimitDecision::Denied { wait: SECOND }
    );
}

/// H15: `take` and `spend` of the memory store use the same buckets.
#[tokio::test]
async fn take_and_spend_share_buckets() {
    let store = MemoryRateLimitStore::default();
    let policy = policy("user", 1, SECOND, 2);
    assert!(store.take(&policy.spend("ada"), start()).is_allowed());
    let found = store.spend(&[policy.spend("ada")], start()).await.unwrap();
    assert!(found[0] > State::default());
    assert!(!store.take(&policy.spend("ada"), start()).is_allowed());
}

fn limiter(clock: &ManualClock, profile: HeaderProfile) -> RateLimiter {
    let store = Arc::new(MemoryRateLimitStore::default());
    RateLimiter::new(store, Arc::new(clock.clone()), OnStoreFailure::FailClosed).with_profile(profile)
}

fn field<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

async fn check(limiter: &RateLimiter, spends: &[Spend<'_>]) -> Response<bytes::Bytes> {
    match limiter.check(spends).await {
        Ok(standings) => {
            let mut response = Response::default();
            standings.apply(response.headers_mut());
            response
        }
        Err(problem) => problem.into_response(),
    }
}

/// H15: a 429 is a problem of the registered type that names the policies; its wait is rounded up,
/// never zero, and no shorter than in `RateLimit`.
#[tokio::test]
async fn a_429_has_retry_after_and_names_its_policy() {
    let clock = ManualClock::new(start());
    let limiter = limiter(&clock, HeaderProfile::STRUCTURED);
    let (wide, narrow) = (
        policy("wide", 100, SECOND * 60, 50),
        policy("narrow", 10, SECOND * 9, 2),
    );
    let spends = [wide.spend("203.0.113.7"), narrow.spend("ada")];
    for (left, comes) in [(49, 1), (48, 0)] {
        let passed = check(&limiter, &spends).await;
        assert_eq!(passed.status(), StatusCode::OK);
        assert_eq!(
            field(passed.headers(), "ratelimit-policy"),
            Some(r#""wide";q=100;w=60, "narrow";q=10;w=9"#)
        );
        let expected = format!(r#""wide";r={left};t=1, "narrow";r={comes};t=1"#);
        assert_eq!(field(passed.headers(), "ratelimit"), Some(&*expected));
    }

    for (later, wait) in [(0, "1"), (899, "1")] {
        clock.set(start() + Duration::from_millis(later));
        let refused = check(&limiter, &spends).await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(field(refused.headers(), "retry-after"), Some(wait));
        assert_eq!(
            field(refused.headers(), "content-type"),
            Some("application/problem+json")
        );
        assert_eq!(field(refused.headers(), "cache-control"), Some("no-store"));
        assert!(
            field(refused.headers(), "ratelimit")
                .unwrap()
                .ends_with(r#""narrow";r=0;t=1"#)
        );
        let problem = ReceivedProblem::parse(refused.body()).unwrap();
        assert_eq!(problem.type_uri(), QUOTA_EXCEEDED);
        let body = String::from_utf8(refused.body().to_vec()).unwrap();
        assert!(body.contains(r#""violated-policies":["narrow"]"#), "{body}");
    }
    clock.set(start() + Duration::from_millis(900));
    assert_eq!(check(&limiter, &spends).await.status(), StatusCode::OK);

    // nine units take 8.1 s, rounded up; the slowest policy decides
    let dear = [wide.spend("203.0.113.7"), narrow.spend("ada").with_cost(9)];
    assert_eq!(
        field(check(&limiter, &dear).await.headers(), "retry-after"),
        Some("2")
    );
}

/// H15: the older fields describe the policy with the smallest remaining share, and the Unix time
/// at which its bucket is full.
#[tokio::test]
async fn each_profile_has_its_own_fields() {
    const OLD: [&str; 3] = ["limit", "remaining", "reset"];
    let clock = ManualClock::new(start());
    let (wide, narrow) = (
        policy("wide", 1_000, SECOND * 3600, 1_000),
        policy("narrow", 10, SECOND * 10, 10),
    );
    let all = HeaderProfile::STRUCTURED
        .and(HeaderProfile::UNIX)
        .and(HeaderProfile::X_UNIX);
    for (profile, structured, plain, prefixed) in [
        (HeaderProfile::NONE, false, false, false),
        (HeaderProfile::STRUCTURED, true, false, false),
        (HeaderProfile::UNIX, false, true, false),
        (HeaderProfile::X_UNIX, false, false, true),
        (all, true, true, true),
        (HeaderProfile::default(), true, true, true),
    ] {
        let answer = check(&limiter(&clock, profile), &[wide.spend("a"), narrow.spend("b")]).await;
        let headers = answer.headers();
        let triple = |prefix: &str| OLD.map(|name| field(headers, &format!("{prefix}ratelimit-{name}")));
        let told = [Some("10"), Some("9"), Some("1800000002")];
        assert_eq!(headers.contains_key("ratelimit"), structured, "{profile:?}");
        assert_eq!(
            headers.contains_key("ratelimit-policy"),
            structured,
            "{profile:?}"
        );
        assert_eq!(triple(""), if plain { told } else { [None; 3] }, "{profile:?}");
        assert_eq!(
            triple("x-"),
            if prefixed { told } else { [None; 3] },
            "{profile:?}"
        );
    }
}

/// H15: the older fields never report more remaining units than their limit.
#[tokio::test]
async fn older_fields_report_burst_above_limit() {
    let clock = ManualClock::new(start());
    for (limit, burst, told) in [(1, 5, ["5", "4"]), (10, 5, ["10", "4"])] {
        let policy = policy("address", limit, SECOND * 2, burst);
        let profile = HeaderProfile::UNIX.and(HeaderProfile::X_UNIX);
        let answer = check(&limiter(&clock, profile), &[policy.spend("a")]).await;
        for prefix in ["", "x-"] {
            let fields = ["limit", "remaining"].map(|name| format!("{prefix}ratelimit-{name}"));
            let found = fields.map(|name| field(answer.headers(), &name));
            assert_eq!(found, told.map(Some), "{limit} {burst}");
        }
    }
}

/// H15: the structured fields list both limiters, and the older fields the first one; on problems
/// too.
#[tokio::test]
async fn two_limiters_tell_of_both() {
    let clock = ManualClock::new(start());
    let limiter = limiter(&clock, HeaderProfile::STRUCTURED.and(HeaderProfile::X_UNIX));
    let (outer, inner) = (policy("outer", 9, SECOND, 9), policy("inner", 5, SECOND, 5));
    let outer = limiter.check(&[outer.spend("a")]).await.unwrap();
    let inner = limiter.check(&[inner.spend("a")]).await.unwrap();
    let mut passed = Response::new(());
    inner.apply(passed.headers_mut());
    outer.apply(passed.headers_mut());
    let failed = outer
        .add_to_problem(inner.add_to_problem(Problem::new(ErrorStatus::NOT_FOUND)))
        .into_response();
    for headers in [passed.headers(), failed.headers()] {
        let lines = |name: &str| -> Vec<String> {
            let lines = headers.get_all(name).iter();
            lines.map(|line| line.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(lines("ratelimit"), [r#""inner";r=4;t=1"#, r#""outer";r=8;t=1"#]);
        assert_eq!(
            lines("ratelimit-policy"),
            [r#""inner";q=5;w=1"#, r#""outer";q=9;w=1"#]
        );
        assert_eq!(lines("x-ratelimit-limit"), ["5"]);
        assert_eq!(lines("x-ratelimit-remaining"), ["4"]);
    }
}

/// H15: a window that is not in whole seconds is omitted.
#[tokio::test]
async fn a_window_of_no_whole_seconds_is_left_out() {
    let clock = ManualClock::new(start());
    let policy = policy("burst", 5, Duration::from_millis(1500), 5);
    let answer = check(&limiter(&clock, HeaderProfile::STRUCTURED), &[policy.spend("a")]).await;
    assert_eq!(
        field(answer.headers(), "ratelimit-policy"),
        Some(r#""burst";q=5"#)
    );
}

struct Down;

#[async_trait]
impl RateLimitStore for Down {
    async fn spend(&self, _: &[Spend<'_>], _: SystemTime) -> Result<Vec<State>, StoreError> {
        Err(StoreError::unavailable("no route to secret-host"))
    }
}

/// H15: with a failed store all requests pass or none, as configured; the cause goes to the log
/// alone.
#[tokio::test]
async fn a_store_that_is_down_fails_as_the_host_chose() {
    let policy = policy("user", 1, SECOND, 1);
    for (on_failure, status) in [(OnStoreFailure::FailOpen, 200), (OnStoreFailure::FailClosed, 503)] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = told.clone();
        let limiter = RateLimiter::new(Arc::new(Down), Arc::new(ManualClock::new(start())), on_failure)
            .with_failure_log(move |error| log.lock().unwrap().push(error.to_string()));
        let answer = check(&limiter, &[policy.spend("ada")]).await;
        assert_eq!(answer.status(), status);
        assert_eq!(
            field(answer.headers(), "retry-after"),
            (status == 503).then_some("1")
        );
        assert!(!String::from_utf8_lossy(answer.body()).contains("secret-host"));
        assert_eq!(*told.lock().unwrap(), ["store unavailable"]);
    }
}

/// H15: a policy name that could break out of a structured field is refused.
#[test]
fn a_policy_name_is_plain() {
    let quota = Quota::per(1, SECOND).unwrap();
    for name in ["a", "per-user_1.5", &"x".repeat(64)] {
        assert_eq!(Policy::new(name, quota).unwrap().name(), name);
    }
    for name in ["", "a b", "a\"", "a;q=1", "a,b", "é", "a\0", &"x".repeat(65)] {
        assert!(Policy::new(name, quota).is_err(), "{name:?}");
    }
}

/// H15: bucket keys in shared stores never change, because a change would reset every limit.
#[test]
fn names_of_buckets_never_change() {
    let policy = policy("user", 1, SECOND, 1);
    let hex = |spend: Spend<'_>| format!("{:?}", spend.bucket());
    assert_eq!(
        hex(policy.spend("ada")),
        "BucketKey(3043502fddcfafce5cc545a466190b9e6cf45a1b37607c2b79d2e381d237de65)"
    );
    assert_ne!(hex(policy.spend("ada")), hex(policy.spend("")));
}
