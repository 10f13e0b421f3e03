//! Retry policy of a client.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_conventions::{
    errors::ReceivedProblem,
    ports::{Entropy, EntropyFn, entropy_fn},
    retry::{Attempt, AttemptOutcome, GiveUp, RetryBudget, RetryDecision, RetryPolicy, parse_wait},
};
use proptest::prelude::*;

const MOST: EntropyFn<fn(&mut [u8])> = entropy_fn(|buffer| buffer.fill(0xFF));
const LEAST: EntropyFn<fn(&mut [u8])> = entropy_fn(|buffer| buffer.fill(0));

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn fields(fields: &[(&'static str, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
}

fn decide(method: &Method, request: &HeaderMap, outcome: AttemptOutcome<'_>, times: u32) -> RetryDecision {
    RetryPolicy::default().decide(Attempt::new(method, request, times), outcome, now(), &LEAST)
}

fn answered(status: u16, headers: &HeaderMap) -> AttemptOutcome<'_> {
    let status = StatusCode::from_u16(status).unwrap();
    AttemptOutcome::Response {
        status,
        headers,
        problem: None,
    }
}

/// H16: every status and every outcome of an attempt, for repeatable and other requests.
#[test]
fn only_what_may_pass_is_tried_again() {
    let (none, keyed) = (HeaderMap::new(), fields(&[("idempotency-key", "k-1")]));
    for status in 100..=599_u16 {
        let may_pass = [408, 425, 429, 500, 502, 503, 504].contains(&status);
        let repeatable = if may_pass {
            RetryDecision::Retry(Duration::ZERO)
        } else {
            RetryDecision::GiveUp(GiveUp::Final)
        };
        let unrepeatable = RetryDecision::GiveUp(if may_pass {
            GiveUp::NotRepeatable
        } else {
            GiveUp::Final
        });
        let outcome = answered(status, &none);
        for method in [
            Method::GET,
            Method::HEAD,
            Method::QUERY,
            Method::PUT,
            Method::DELETE,
            Method::OPTIONS,
        ] {
            assert_eq!(
                decide(&method, &none, outcome, 1),
                repeatable,
                "{method} {status}"
            );
        }
        for method in [Method::POST, Method::PATCH] {
            assert_eq!(
                decide(&method, &none, outcome, 1),
                unrepeatable,
                "{method} {status}"
            );
            assert_eq!(
                decide(&method, &keyed, outcome, 1),
                repeatable,
                "{method} {status}"
            );
        }
    }
}

/// H16: a request that was not sent is always retried; a lost request only if it is repeatable.
#[test]
fn a_try_without_an_answer_depends_on_whether_it_left() {
    let (none, keyed) = (HeaderMap::new(), fields(&[("idempotency-key", "k-1")]));
    assert_eq!(
        decide(&Method::POST, &none, AttemptOutcome::NotSent, 1),
        RetryDecision::Retry(Duration::ZERO)
    );
    assert_eq!(
        decide(&Method::POST, &none, AttemptOutcome::Lost, 1),
        RetryDecision::GiveUp(GiveUp::NotRepeatable)
    );
    assert_eq!(
        decide(&Method::POST, &keyed, AttemptOutcome::Lost, 1),
        RetryDecision::Retry(Duration::ZERO)
    );
    assert_eq!(
        decide(&Method::GET, &none, AttemptOutcome::Lost, 4),
        RetryDecision::GiveUp(GiveUp::Exhausted)
    );
    assert_eq!(
        decide(&Method::GET, &none, AttemptOutcome::NotSent, u32::MAX),
        RetryDecision::GiveUp(GiveUp::Exhausted)
    );
}

/// H16: a 409 is retried only while the first request with the same key is in progress.
#[test]
fn retries_409_only_while_first_request_is_in_progress() {
    let (none, keyed) = (HeaderMap::new(), fields(&[("idempotency-key", "k-1")]));
    let decision = |type_uri: &str, request| {
        let problem = ReceivedProblem::parse(format!(r#"{{"type":"{type_uri}"}}"#).as_bytes()).unwrap();
        let outcome = AttemptOutcome::Response {
            status: StatusCode::CONFLICT,
            headers: &none,
            problem: Some(&problem),
        };
        decide(&Method::POST, request, outcome, 1)
    };
    let in_flight = "https://api.example.com/problems/idempotency-in-flight";
    assert_eq!(decision(in_flight, &keyed), RetryDecision::Retry(Duration::ZERO));
    for (type_uri, request) in [
        (in_flight, &none),
        ("https://api.example.com/problems/idempotency-key-reused", &keyed),
        (
            "https://api.example.com/problems/not-idempotency-in-flight",
            &keyed,
        ),
        ("idempotency-in-flight", &keyed),
        ("about:blank", &keyed),
    ] {
        assert_eq!(
            decision(type_uri, request),
            RetryDecision::GiveUp(GiveUp::Final),
            "{type_uri}"
        );
    }
}

/// H16: the ceiling of the wait doubles up to a cap, and the wait is uniform below it.
#[test]
fn a_wait_is_drawn_below_a_ceiling_that_doubles() {
    let policy = RetryPolicy::default()
        .with_attempts(u32::MAX)
        .with_ceilings(Duration::from_millis(100), Duration::from_secs(1));
    let none = HeaderMap::new();
    let wait = |times, entropy: &dyn Entropy| match policy.decide(
        Attempt::new(&Method::GET, &none, times),
        AttemptOutcome::Lost,
        now(),
        entropy,
    ) {
        RetryDecision::Retry(wait) => wait.as_millis(),
        RetryDecision::GiveUp(why) => panic!("{why:?}"),
    };
    for (times, ceiling) in [
        (1, 100),
        (2, 200),
        (3, 400),
        (4, 800),
        (5, 1000),
        (40, 1000),
        (u32::MAX - 1, 1000),
    ] {
        assert_eq!((wait(times, &LEAST), wait(times, &MOST)), (0, ceiling));
    }
    let half = entropy_fn(|buffer: &mut [u8]| {
        buffer.fill(0);
        buffer[0] = 0x80;
    });
    assert_eq!(wait(1, &half), 50);
}

/// H16: the wait that the server asks for is added to the jitter, and the client gives up if it is
/// too long.
#[test]
fn the_wait_that_the_server_asks_for_is_kept() {
    let none = HeaderMap::new();
    let policy = RetryPolicy::default().with_longest_wait(Duration::from_secs(90));
    let decision = |answer: &HeaderMap, entropy: &dyn Entropy| {
        policy.decide(
            Attempt::new(&Method::GET, &none, 1),
            answered(503, answer),
            now(),
            entropy,
        )
    };
    let asked = |seconds| fields(&[("retry-after", seconds)]);
    assert_eq!(
        decision(&asked("90"), &LEAST),
        RetryDecision::Retry(Duration::from_secs(90))
    );
    assert_eq!(
        decision(&asked("90"), &MOST),
        RetryDecision::Retry(Duration::from_millis(90_500))
    );
    assert_eq!(
        decision(&asked("91"), &LEAST),
        RetryDecision::GiveUp(GiveUp::TooLong(Duration::from_secs(91)))
    );
    assert_eq!(
        decision(&asked("soon"), &LEAST),
        RetryDecision::Retry(Duration::ZERO)
    );
    let absurd = asked("99999999999999999999");
    assert_eq!(
        decision(&absurd, &LEAST),
        RetryDecision::GiveUp(GiveUp::TooLong(Duration::from_secs(1 << 31)))
    );
}

/// H16: all forms of the wait are parsed, in order of precedence.
#[test]
fn every_dialect_of_a_wait_is_read() {
    for (answer, expected) in [
        (
            &[
                ("retry-after", "7"),
                ("ratelimit", r#""a";r=0;t=30"#),
                ("ratelimit-reset", "9"),
            ][..],
            Some(7),
        ),
        (
            &[
                ("retry-after", "soon"),
                ("ratelimit", r#""a";r=0;t=30, "b";r=0;t=40"#),
            ],
            Some(40),
        ),
        (
            &[
                ("ratelimit", r#""a,r=0;t=1";r=0;t=30"#),
                ("ratelimit", r#""b";t=50;r=0;pk=:YQ==:"#),
            ],
            Some(50),
        ),
        (&[("ratelimit", r#""a";r=3;t=30"#)], None),
        (&[("ratelimit", r#""a";t=30"#)], None),
        (
            &[
                ("ratelimit", r#""a";r=0;t=-1"#),
                ("x-ratelimit-reset", "1800000005"),
            ],
            Some(5),
        ),
        (
            &[("retry-after", "5"), ("retry-after", "50"), ("retry-after", "x")],
            Some(50),
        ),
        (&[("ratelimit-reset", "12")], Some(12)),
        (&[("ratelimit-reset", "1799999999")], Some(0)),
        (&[("x-ratelimit-reset", "999999999")], Some(999_999_999)),
        (&[("ratelimit-reset", "1"), ("ratelimit-reset", "2")], None),
        (&[("ratelimit-reset", "1.5")], None),
        (&[("ratelimit-reset", "99999999999999999999")], Some(347_483_648)),
        (&[], None),
    ] {
        let wait = parse_wait(&fields(answer), now());
        assert_eq!(wait, expected.map(Duration::from_secs), "{answer:?}");
    }
}

/// H16: a time is relative to the clock of the response: with clock skew of minutes the client does
/// not retry too early.
#[test]
fn a_wait_is_measured_by_the_clock_of_the_answer() {
    const DATE: (&str, &str) = ("date", "Fri, 15 Jan 2027 08:00:00 GMT");
    let at =
        |skew: i64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000_u64.strict_add_signed(skew));
    for skew in [-300, 0, 300] {
        for (name, value, wait) in [
            ("retry-after", "Fri, 15 Jan 2027 08:01:00 GMT", 60),
            ("retry-after", "60", 60),
            ("retry-after", "Fri, 15 Jan 2027 07:59:00 GMT", 0),
            ("ratelimit-reset", "1800000060", 60),
        ] {
            let answer = fields(&[DATE, (name, value)]);
            assert_eq!(
                parse_wait(&answer, at(skew)),
                Some(Duration::from_secs(wait)),
                "{value}, {skew}"
            );
        }
    }
    // without a valid date the clock of the client counts
    for date in [&[][..], &[("date", "yesterday")]] {
        let mut answer = fields(date);
        answer.extend(fields(&[("retry-after", "Fri, 15 Jan 2027 08:01:00 GMT")]));
        assert_eq!(parse_wait(&answer, at(45)), Some(Duration::from_secs(15)));
    }
}

/// H16: retries stay a share of the requests.
#[test]
fn a_budget_bounds_the_retries_of_many_requests() {
    let mut budget = RetryBudget::new(20, 10);
    let mut retries = 0;
    for _ in 0..1000 {
        budget.deposit();
        while budget.withdraw() {
            retries += 1;
        }
    }
    // the reserve is full at the start, so the first deposit is lost
    assert_eq!(retries, 10 + 199);
    let mut idle = RetryBudget::new(100, 2);
    (0..1000).for_each(|_| idle.deposit());
    assert_eq!(
        [idle.withdraw(), idle.withdraw(), idle.withdraw()],
        [true, true, false]
    );
    assert!(!RetryBudget::new(0, 0).withdraw());
}

proptest! {
    /// H16: the wait is between the requested wait and that wait plus the cap.
    #[test]
    fn a_wait_is_between_request_and_cap(times in 1_u32..4, asked in 0_u64..=60, random: [u8; 4]) {
        let answer = HeaderMap::from_iter([(http::header::RETRY_AFTER, HeaderValue::from(asked))]);
        let draw = entropy_fn(move |buffer: &mut [u8]| buffer.copy_from_slice(&random));
        let request = HeaderMap::new();
        let decision = RetryPolicy::default().decide(Attempt::new(&Method::GET, &request, times), answered(503, &answer), now(), &draw);
        let RetryDecision::Retry(wait) = decision else { panic!("{decision:?}") };
        prop_assert!(wait >= Duration::from_secs(asked) && wait <= Duration::from_secs(asked + 20));
    }
}
