//! Two processes on one PostgreSQL database and one Redis behave as one.

use std::time::{Duration, Instant};

use crate::fan_out::{Process, hears_changes, redis};
use crate::postgres::{Lock, Schema};
use crate::way::Way;

/// Two processes with one issuer. The schema is dropped after the processes.
pub(crate) struct Pair {
    pub(crate) here: Process,
    pub(crate) there: Process,
    pub(crate) _schema: Schema,
}

impl Pair {
    /// `None` if there is no PostgreSQL or no Redis.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let (schema, redis) = (Schema::fresh(test)?, redis(test)?);
        let binary = env!("CARGO_BIN_EXE_service-hyper");
        let here = Process::start(binary, &schema.url(), &redis);
        let there = Process::start_beside(&here, binary, &schema.url(), &redis);
        Some(Self {
            here,
            there,
            _schema: schema,
        })
    }
}

/// Headers of a call with `token`.
pub(crate) fn headers(token: &str, more: &str) -> String {
    format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n{more}")
}

pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap()
}

/// Value of a header, in lower case.
fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let head = answer.split("\r\n\r\n").next().unwrap();
    let value = head
        .lines()
        .find_map(|line| line.split_once(": ").filter(|line| line.0 == name));
    value.unwrap_or_else(|| panic!("no {name}: {answer}")).1
}

pub(crate) fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

pub(crate) const CHARGE: &str = r#"{"amount":500,"currency":"eur"}"#;
const KEY: &str = "idempotency-key: order-1\r\n";
/// Wait between two calls of a test that polls; a client may call 50 times a second.
const POLL: Duration = Duration::from_millis(100);

/// X5, X6: a token that one process issues is accepted by the other, until one revokes it.
#[test]
fn token_of_one_process_is_valid_in_the_other() {
    let Some(Pair { _schema, here, there }) = Pair::start("tokens") else {
        return;
    };
    let token = here.token();
    let read = || there.answer("GET /v1/charges", &headers(&token, ""), "");
    assert_eq!(status(&read()), "200", "{}", read());
    let revoked = here.answer(
        "POST /oauth/revoke",
        "authorization: Basic ZGVtby1zZXJ2aWNlOmRlbW8tc2VydmljZS1zZWNyZXQ=\r\n\
         content-type: application/x-www-form-urlencoded\r\n",
        &format!("token={token}"),
    );
    assert_eq!(status(&revoked), "200", "{revoked}");
    assert_eq!(status(&read()), "401", "{}", read());
}

/// X5, X6, H6: the response to a keyed request is replayed by the other process.
#[test]
fn keyed_request_is_replayed_by_the_other_process() {
    let Some(Pair { _schema, here, there }) = Pair::start("keys") else {
        return;
    };
    let headers = headers(&here.token(), KEY);
    let made = here.answer("POST /v1/charges", &headers, CHARGE);
    let replayed = there.answer("POST /v1/charges", &headers, CHARGE);
    assert_eq!((status(&made), status(&replayed)), ("201", "201"), "{replayed}");
    assert_eq!(header(&replayed, "idempotency-replayed"), "true");
    assert_eq!(body(&replayed), body(&made));
    let other = there.answer("POST /v1/charges", &headers, r#"{"amount":7,"currency":"eur"}"#);
    assert_eq!(status(&other), "409", "{other}");
}

/// X5, X6, H15: a request to one process counts at the other.
#[test]
fn rate_limit_is_shared_by_processes() {
    let Some(Pair { _schema, here, there }) = Pair::start("limits") else {
        return;
    };
    let left = |process: &Process| {
        let answer = process.answer("POST /token", "", "");
        let limit = header(&answer, "ratelimit").to_owned();
        let left = limit.split_once("r=").unwrap().1.split(';').next().unwrap();
        left.parse::<u32>().unwrap()
    };
    // 600 a minute: ten come back each second
    let began = Instant::now();
    while left(&here) > 560 {
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    let left = left(&there);
    assert!(left < 590, "{left}");
}

/// X5, X6, G10: subscribers hear changes by the other process.
#[test]
fn subscriber_hears_changes_of_the_other_process() {
    let Some(Pair { _schema, here, there }) = Pair::start("updates") else {
        return;
    };
    hears_changes(&here, &there);
    hears_changes(&there, &here);
}

/// X6, G13: a query that one process has registered is known by its hash to the other.
#[test]
fn persisted_query_is_shared_by_processes() {
    let Some(Pair { _schema, here, there }) = Pair::start("queries") else {
        return;
    };
    let headers = headers(&here.token(), "accept: application/json\r\n");
    let hash = "f38dc677810a6ebe0c65fe68116919b963d86aac1bb7090ed4809385477b2ef7";
    let extensions = format!(r#""extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}"#);
    let by_hash = format!("{{{extensions}}}");
    let unknown = there.answer("POST /graphql", &headers, &by_hash);
    assert!(body(&unknown).contains("PERSISTED_QUERY_NOT_FOUND"), "{unknown}");
    let registered = format!(r#"{{"query":"{{ viewer {{ subject }} }}",{extensions}}}"#);
    for (process, request) in [(&here, &registered), (&there, &by_hash)] {
        let answer = process.answer("POST /graphql", &headers, request);
        assert_eq!(body(&answer), r#"{"data":{"viewer":{"subject":"demo-service"}}}"#);
    }
}

/// X6: after one process is killed, the other has its data and finishes its work.
#[test]
fn process_goes_on_after_the_other_is_killed() {
    let Some(Pair {
        _schema,
        mut here,
        there,
    }) = Pair::start("killed")
    else {
        return;
    };
    let token = here.token();
    let keyed = headers(&token, KEY);
    let made = here.answer("POST /v1/charges", &keyed, CHARGE);
    let location = header(&made, "location").to_owned();
    let refunds = format!("POST {location}/refunds");
    let queued = here.answer(&refunds, &headers(&token, ""), r#"{"amount":200}"#);
    here.kill();
    assert_eq!(status(&queued), "202", "{queued}");
    let replayed = there.answer("POST /v1/charges", &keyed, CHARGE);
    assert_eq!(body(&replayed), body(&made));
    let refund = format!("GET {}", header(&queued, "location"));
    let began = Instant::now();
    loop {
        let read = there.answer(&refund, &headers(&token, ""), "");
        assert_eq!(status(&read), "200", "{read}");
        if body(&read).contains(r#""status":"succeeded""#) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{read}");
        std::thread::sleep(POLL);
    }
    let charge = there.answer(&format!("GET {location}"), &headers(&token, ""), "");
    assert!(body(&charge).contains(r#""amount_refunded":200"#), "{charge}");
}

/// X6, H6: the key of a request that died with its process is free for a retry after 20 s.
#[test]
fn retry_runs_soon_after_its_process_was_killed() {
    let Some(Pair {
        _schema: schema,
        mut here,
        there,
    }) = Pair::start("killed_key")
    else {
        return;
    };
    let keyed = headers(&here.token(), KEY);
    let mut lock = Lock::take(&schema.url());
    let _write = here.send("POST /v1/charges", &keyed, CHARGE);
    lock.blocks_a_write();
    here.kill();
    lock.release();
    let began = Instant::now();
    loop {
        let retried = there.answer("POST /v1/charges", &keyed, CHARGE);
        if status(&retried) == "201" {
            break;
        }
        assert_eq!(status(&retried), "409", "{retried}");
        assert!(began.elapsed() < Duration::from_secs(30), "{retried}");
        std::thread::sleep(POLL);
    }
}

/// X6: without Redis a process serves and limits on its own.
#[test]
fn process_without_redis_limits_on_its_own() {
    let (Some(schema), Some(redis)) = (Schema::fresh("cut"), redis("two_processes")) else {
        return;
    };
    let way = Way::to(&redis, 6379);
    let process = Process::start(env!("CARGO_BIN_EXE_service-hyper"), &schema.url(), &way.url);
    let headers = headers(&process.token(), "");
    way.cut();
    let read = process.answer("GET /v1/charges", &headers, "");
    assert_eq!(status(&read), "200", "{read}");
    assert!(header(&read, "ratelimit").contains("\"caller\";r=2999"), "{read}");
    let made = process.answer("POST /v1/charges", &headers, CHARGE);
    assert_eq!(status(&made), "201", "{made}");
}
