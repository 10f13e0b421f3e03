//! `rate-limits.json` and `retries.json`.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};
use http_conventions::{
    limits::{InvalidQuota, Quota, RateLimitDecision, RetryAfter, State, decide},
    retry::parse_wait,
};
use serde::Serialize;
use webhook_core::sender::{InvalidSchedule, Schedule};

use crate::file::{Case, VectorFile};

const SECOND: u64 = 1_000_000_000;
const NOW: u64 = 1_800_000_000;

#[derive(Clone, Serialize)]
struct QuotaInput {
    limit: u32,
    /// In nanoseconds.
    period: String,
    burst: u32,
}

fn quota(limit: u32, period: u64, burst: u32) -> (QuotaInput, Result<Quota, InvalidQuota>) {
    let input = QuotaInput {
        limit,
        period: period.to_string(),
        burst,
    };
    let quota = Quota::per(limit, Duration::from_nanos(period)).and_then(|quota| quota.with_burst(burst));
    (input, quota)
}

/// A quota: its interval in nanoseconds, or the reason of its refusal.
fn quota_case(limit: u32, period: u64, burst: u32) -> Case<QuotaInput, String> {
    let (input, quota) = quota(limit, period, burst);
    let expect = match quota {
        Ok(quota) => quota.interval().as_nanos().to_string(),
        Err(InvalidQuota::Zero) => "zero".to_owned(),
        Err(InvalidQuota::TooLong) => "too-long".to_owned(),
        Err(other) => panic!("the format of docs/vectors has no name for {other:?}"),
    };
    Case::new(&format!("{limit} in {period} ns, burst {burst}"), input, expect)
}

/// Requests on one bucket.
#[derive(Serialize)]
struct Requests {
    quota: QuotaInput,
    /// State of the bucket before the first request, in nanoseconds since 1970.
    state: String,
    requests: Vec<Taken>,
}

#[derive(Serialize)]
struct Taken {
    /// In nanoseconds since 1970.
    now: String,
    cost: u32,
}

/// Decision on one request, in nanoseconds.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Allowed(String),
    Denied(String),
}

fn sequence(
    name: &str,
    (quota, checked): (QuotaInput, Result<Quota, InvalidQuota>),
    state: u64,
    requests: &[(u64, u32)],
) -> Case<Requests, Vec<Decision>> {
    let (checked, mut current) = (checked.unwrap(), State::from_nanoseconds(state));
    let decisions = requests.iter().map(|(now, cost)| {
        let now = SystemTime::UNIX_EPOCH + Duration::from_nanos(*now);
        match decide(current, &checked, *cost, now) {
            RateLimitDecision::Allowed { state } => {
                current = state;
                Decision::Allowed(state.as_nanoseconds().to_string())
            }
            RateLimitDecision::Denied { wait } => Decision::Denied(wait.as_nanos().to_string()),
        }
    });
    let expect = decisions.collect();
    let taken = |(now, cost): &(u64, u32)| Taken {
        now: now.to_string(),
        cost: *cost,
    };
    let input = Requests {
        quota,
        state: state.to_string(),
        requests: requests.iter().map(taken).collect(),
    };
    Case::new(name, input, expect)
}

fn sequences() -> Vec<Case<Requests, Vec<Decision>>> {
    let (at, ten) = (NOW * SECOND + 789, || quota(10, 10 * SECOND, 3));
    let empty = at + 3 * SECOND;
    vec![
        sequence(
            "the burst, then each unit at its nanosecond",
            ten(),
            0,
            &[
                (at, 1),
                (at, 1),
                (at, 1),
                (at, 1),
                (at + SECOND - 1, 1),
                (at + SECOND, 1),
                (at + SECOND, 1),
            ],
        ),
        sequence(
            "costs",
            ten(),
            0,
            &[(at, 0), (at, 2), (at, 2), (at, 0), (at, 1), (at, 1)],
        ),
        sequence(
            "a cost above the burst is the burst",
            ten(),
            0,
            &[(at, 9), (at, 9), (at + 3 * SECOND, 4)],
        ),
        sequence(
            "an interval that is rounded up",
            quota(3, SECOND, 3),
            0,
            &[(at, 3), (at, 1), (at + 333_333_333, 1), (at + 333_333_334, 1)],
        ),
        sequence(
            "a clock that is set back",
            ten(),
            empty,
            &[(at - 1, 1), (at - 60 * SECOND, 1), (at - 60 * SECOND - 1, 1)],
        ),
        sequence("a state of the past", ten(), 5, &[(at, 3), (at, 1)]),
        sequence("the beginning of 1970", ten(), 0, &[(0, 3), (0, 1)]),
    ]
}

/// H15: the file says what the rate limiter decides, in whole nanoseconds.
#[test]
fn rate_limits_are_as_the_crate_decides() {
    let ten_years = 10 * 365 * 24 * 3600 * SECOND;
    let quotas = [
        quota_case(100, 60 * SECOND, 100),
        quota_case(3, SECOND, 3),
        quota_case(u32::MAX, SECOND, 1),
        quota_case(1, ten_years, 1),
        quota_case(1, ten_years, 2),
        quota_case(1, ten_years + 1, 1),
        // the burst would fit, the limit does not
        quota_case(2, ten_years + 1, 1),
        quota_case(0, SECOND, 1),
        quota_case(1, 0, 1),
        quota_case(1, SECOND, 0),
    ];
    VectorFile::new("rate-limits.json", "Decisions of GCRA in whole nanoseconds")
        .with_cases("quotas", &quotas)
        .with_cases("sequences", &sequences())
        .check();
}

#[derive(Serialize)]
struct FieldValue {
    value: String,
    now: u64,
}

fn retry_after(value: &str) -> Case<FieldValue, Option<u64>> {
    // the time of the example of RFC 9110
    let now = 784_111_777;
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
    let expect = RetryAfter::parse(value.as_bytes(), at)
        .ok()
        .map(|wait| wait.as_secs());
    let input = FieldValue {
        value: value.to_owned(),
        now,
    };
    Case::new(&format!("{value:?}"), input, expect)
}

#[derive(Serialize)]
struct Headers {
    headers: Vec<(&'static str, &'static str)>,
    now: u64,
}

fn wait(name: &str, fields: &[(&'static str, &'static str)]) -> Case<Headers, Option<u64>> {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(HeaderName::from_static(name), value.parse().unwrap());
    }
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    let input = Headers {
        headers: fields.to_vec(),
        now: NOW,
    };
    Case::new(name, input, parse_wait(&headers, at).map(|wait| wait.as_secs()))
}

fn waits() -> Vec<Case<Headers, Option<u64>>> {
    // `now` is Fri, 15 Jan 2027 08:00:00 GMT
    vec![
        wait("nothing", &[]),
        wait("seconds", &[("retry-after", "30")]),
        wait("a date", &[("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT")]),
        wait(
            "a date, by the clock of the server",
            &[
                ("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT"),
                ("date", "Fri, 15 Jan 2027 08:00:10 GMT"),
            ],
        ),
        wait(
            "the longest of two",
            &[("retry-after", "30"), ("retry-after", "40")],
        ),
        wait(
            "an exhausted quota",
            &[("ratelimit", r#""burst";r=0;t=30, "daily";r=7;t=8000"#)],
        ),
        wait(
            "two exhausted quotas",
            &[("ratelimit", r#""a";r=0;t=30, "b";r=0;t=8000"#)],
        ),
        wait("no exhausted quota", &[("ratelimit", r#""a";r=1;t=30"#)]),
        wait("a reset in seconds", &[("ratelimit-reset", "30")]),
        wait("a reset as a time", &[("x-ratelimit-reset", "1800000030")]),
        wait("a reset of the past", &[("x-ratelimit-reset", "1799999999")]),
        wait(
            "a repeated reset",
            &[("ratelimit-reset", "30"), ("ratelimit-reset", "30")],
        ),
        wait(
            "both resets",
            &[("x-ratelimit-reset", "40"), ("ratelimit-reset", "30")],
        ),
        wait(
            "Retry-After before the others",
            &[("ratelimit-reset", "30"), ("retry-after", "50")],
        ),
        wait(
            "a malformed Retry-After",
            &[("ratelimit-reset", "30"), ("retry-after", "soon")],
        ),
    ]
}

#[derive(Serialize)]
struct Attempts {
    /// Gaps in seconds.
    gaps: Vec<u64>,
    /// Attempts that were made.
    attempts: u32,
    /// Random number of 64 bits.
    jitter: String,
}

/// Nanoseconds until the next attempt, `exhausted`, or the reason why the gaps are no schedule.
fn delay(gaps: &[u64], attempts: u32, jitter: u64) -> Case<Attempts, String> {
    let seconds = gaps.iter().copied().map(Duration::from_secs);
    let expect = match Schedule::new(seconds) {
        Ok(schedule) => match schedule.delay_after(attempts, jitter) {
            Some(delay) => delay.as_nanos().to_string(),
            None => "exhausted".to_owned(),
        },
        Err(InvalidSchedule::TooManyAttempts) => "too-many-attempts".to_owned(),
        Err(InvalidSchedule::ZeroGap) => "zero-gap".to_owned(),
        Err(InvalidSchedule::GapTooLong) => "gap-too-long".to_owned(),
        Err(InvalidSchedule::ShrinkingGap) => "shrinking-gap".to_owned(),
        Err(other) => panic!("the format of docs/vectors has no name for {other:?}"),
    };
    let name = match gaps {
        [] => "no gap".to_owned(),
        [first, ..] => format!("{} gaps from {first} s", gaps.len()),
    };
    let input = Attempts {
        gaps: gaps.to_vec(),
        attempts,
        jitter: jitter.to_string(),
    };
    Case::new(
        &format!("{name}, {attempts} attempts, jitter {jitter}"),
        input,
        expect,
    )
}

fn delays() -> Vec<Case<Attempts, String>> {
    let default = [60, 600, 3600, 21_600, 43_200, 86_400];
    let mut cases = Vec::new();
    for attempts in 0..=7 {
        for jitter in [0, 1 << 63, u64::MAX] {
            cases.push(delay(&default, attempts, jitter));
        }
    }
    cases.push(delay(&[7], 1, 0x0123_4567_89ab_cdef));
    for gaps in [
        &[][..],
        &[1; 31],
        &[1; 32],
        &[0, 1],
        &[2, 1],
        &[604_800],
        &[604_801],
    ] {
        cases.push(delay(gaps, 1, 1 << 62));
    }
    cases
}

/// H15, H16, W13, W14: the file says how long a client waits, and when a delivery is retried.
#[test]
fn retries_are_as_the_crates_decide() {
    let values = [
        "0",
        "120",
        " 007 ",
        "99999999999999999999999999",
        "Sun, 06 Nov 1994 08:50:37 GMT",
        "Sunday, 06-Nov-94 08:50:37 GMT",
        "Sun Nov  6 08:50:37 1994",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sat, 05 Nov 1994 08:49:37 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Sunday, 06-Nov-44 08:49:37 GMT",
        "Tuesday, 06-Nov-45 08:49:37 GMT",
        "Mon, 06 Nov 1994 08:50:37 GMT",
        "",
        "-1",
        "+1",
        "1.5",
        "1,2",
        "soon",
    ];
    VectorFile::new(
        "retries.json",
        "Waits that servers ask for, and the schedule of deliveries",
    )
    .with_cases("retry_after", &values.map(retry_after))
    .with_cases("waits", &waits())
    .with_cases("delays", &delays())
    .check();
}
