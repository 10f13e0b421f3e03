//! The audit has no findings for correct responses, those of the pipeline included.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_conventions::{
    audit::{self, audit},
    errors::Problem,
    idempotency::{KeyScope, Reply},
    limits::RetryAfter,
};

use crate::{
    audit::{STRANGE, answer, get, problem, sent},
    pipeline_fixture::{Desk, preflight, request},
};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");

/// H22: correct responses have no findings.
#[test]
fn an_answer_that_keeps_the_rules_has_no_finding() {
    let limits = [
        ("ratelimit", "\"user\";r=50;t=30, \"a;b\";r=0"),
        ("ratelimit-policy", "\"user\";q=100;w=60"),
    ];
    for kept in [
        answer(200, "{}", &limits),
        answer(
            200,
            "{}",
            &[
                ("etag", "W/\"1\""),
                ("deprecation", "@1"),
                ("sunset", "Fri, 02 Jan 1970 00:00:00 GMT"),
            ],
        ),
        answer(200, "{\"data\":[1],\"has_more\":true,\"next_cursor\":\"x\"}", &[]),
        answer(200, "{\"data\":[],\"has_more\":false,\"next_cursor\":null}", &[]),
        answer(204, "", &[]),
        answer(304, "", &[("etag", "\"1\"")]),
        problem(401, &[("www-authenticate", "Bearer")]),
        problem(405, &[("allow", "POST")]),
        problem(429, &[("retry-after", "1")]),
        problem(503, &[("retry-after", "Fri, 02 Jan 1970 00:00:00 GMT")]),
        answer(200, "{}", &[("access-control-allow-origin", "*")]),
    ] {
        assert_eq!(get(&kept), [], "{kept:?}");
    }
    assert_eq!(
        audit(&sent("POST", &[]), &answer(308, "", &[("location", "/v2")])),
        []
    );
    assert_eq!(audit(&sent("PUT", &[]), &answer(201, "{}", &[])), []);
    assert_eq!(audit(&sent("HEAD", &[]), &answer(404, "", &[])), []);
    let waits = problem(409, &[("retry-after", "1")]);
    assert_eq!(audit::duplicates(&[answer(200, "{}", &[]), waits.clone()]), []);
    let ran = answer(
        409,
        "{\"status\":409,\"original_status\":201,\"retryable\":false}",
        &[],
    );
    assert_eq!(audit::duplicates(&[answer(201, "{}", &[]), ran]), []);
    assert_eq!(audit::duplicates(&[problem(422, &[]), problem(422, &[])]), []);
    assert_eq!(audit::reused_key(&waits), []);
    assert_eq!(audit::stale_write(&problem(412, &[])), []);
    assert_eq!(audit::unknown_method(&problem(501, &[])), []);
    assert_eq!(audit::unlisted_origin(STRANGE, &answer(200, "{}", &[])), []);
}

/// H15, H22: a host that uses the pipeline has no findings on any exit, a repeated 429 included.
#[tokio::test]
async fn the_pipeline_has_no_finding() {
    let desk = Desk::new();
    let long = format!("/v1/charges?{}", "x".repeat(9000));
    for request in [
        request("GET", "/v1/charges", &[]),
        request("GET", "/v1/charges", &[("x-request-id", "a; drop table")]),
        request("GET", "/v1/charges", &[("if-none-match", "\"1\"")]),
        request("GET", "/v1/charges", &[("authorization", "")]),
        request("GET", "/v1/charges", &[("authorization", "Bearer weak")]),
        request("GET", "/v1/charges", &[("if-match", "\"0\"")]),
        request("GET", "/v1/nothing", &[]),
        request("GET", "/v9/charges", &[]),
        request("GET", &long, &[]),
        request("DELETE", "/v1/charges", &[]),
        request("PATCH", "/v1/charges", &[]),
        request("POST", "/v1/charges", &[KEY]),
        request("POST", "/v1/charges?other", &[KEY]),
        preflight("/v1/charges"),
    ] {
        let answer = desk.send(&request).await;
        assert_eq!(audit(&request, &answer), [], "{request:?}");
    }
    let read = desk.send(&request("GET", "/v1/charges", &[])).await;
    let again = desk
        .send(&request("GET", "/v1/charges", &[("if-none-match", "\"1\"")]))
        .await;
    assert_eq!(audit::conditional_read(&read, &again), []);
    let duplicates = [desk.send(&request("POST", "/v1/charges", &[KEY])).await, {
        desk.send(&request("POST", "/v1/charges", &[KEY])).await
    }];
    assert_eq!(audit::duplicates(&duplicates), []);
    for busy in [Problem::too_many_requests, Problem::service_unavailable] {
        let busy = || busy(RetryAfter::new(Duration::from_secs(30))).into_response();
        let key = format!("busy-{}", busy().status().as_u16());
        let request = request("POST", "/v1/charges", &[("idempotency-key", &key)]);
        for _ in 0..2 {
            let exchange = desk
                .conventions
                .begin(&request)
                .admit(&request)
                .unwrap()
                .skip_rate_limit();
            let scope = KeyScope::new("user-7", "/v1/charges");
            let answer = exchange
                .run(&request, scope, async { Reply::Final(busy()) })
                .await;
            assert_eq!(audit(&request, &answer), [], "{answer:?}");
        }
    }
    let strange = desk
        .send(&request("GET", "/v1/charges", &[("origin", STRANGE)]))
        .await;
    assert_eq!(audit::unlisted_origin(STRANGE, &strange), []);
}

proptest::proptest! {
    /// H22: the audit of any response terminates without a panic.
    #[test]
    fn any_response_can_be_audited(
        status in 100..600_u16,
        body: Vec<u8>,
        names in proptest::collection::vec(0..8_usize, 0..6),
        value in "[ -~]{0,40}",
    ) {
        const NAMES: [&str; 8] = [
            "ratelimit", "ratelimit-policy", "retry-after", "deprecation", "sunset", "etag", "allow", "content-type",
        ];
        let mut answer = Response::new(Bytes::from(body));
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        for name in names {
            answer.headers_mut().insert(NAMES[name], value.parse().unwrap());
        }
        let _findings = get(&answer);
    }
}
