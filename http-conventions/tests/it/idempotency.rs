//! Idempotency keys, seen from a client.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderValue, Method, Response};
use http_conventions::{
    caching::{EntityTag, Preconditions, Validators},
    idempotency::{Idempotency, KeyScope, MismatchStatus, Reply},
};

use crate::idempotency_fixture::{BODY, Fixture, LEASE, SCOPE, expect_problem, is_replayed, post, problems};

/// H6: a request with the same key and body gets the stored status, headers and body, marked as
/// replayed; the handler runs once.
#[tokio::test]
async fn a_repeated_request_gets_the_first_answer() {
    let fixture = Fixture::new();
    let first = fixture.send(&post("k-1", BODY)).await;
    assert!(!is_replayed(&first));
    for _ in 0..3 {
        let again = fixture.send(&post("k-1", BODY)).await;
        assert!(is_replayed(&again));
        assert_eq!(again.status(), first.status());
        assert_eq!(again.body(), first.body());
        for name in ["content-type", "location", "etag"] {
            assert_eq!(again.headers()[name], first.headers()[name]);
        }
    }
    assert_eq!(fixture.runs(), 1);
}

/// H6: fields of one exchange, connection or origin are not replayed; fields of the outcome are,
/// line by line. H5: a replay has its own request id.
#[tokio::test]
async fn cookies_and_request_ids_are_not_replayed() {
    let fixture = Fixture::new();
    let of_one_exchange = [
        "access-control-allow-origin",
        "connection",
        "content-length",
        "date",
        "keep-alive",
        "proxy-authenticate",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-ratelimit-remaining",
        "x-request-id",
    ];
    let first = |mut response: Response<Bytes>| {
        for name in of_one_exchange {
            response.headers_mut().insert(name, HeaderValue::from_static("1"));
        }
        for link in ["</a>; rel=\"a\"", "</b>; rel=\"b\""] {
            response
                .headers_mut()
                .append("link", HeaderValue::from_static(link));
        }
        Reply::Final(response)
    };
    fixture.reply(SCOPE, &post("k-1", BODY), first).await;
    let again = fixture.send(&post("k-1", BODY)).await;
    assert!(is_replayed(&again));
    for name in of_one_exchange {
        assert!(!again.headers().contains_key(name), "{name}");
    }
    let links: Vec<_> = again.headers().get_all("link").iter().collect();
    assert_eq!(links, ["</a>; rel=\"a\"", "</b>; rel=\"b\""]);
}

/// H6: the quoted and the unquoted form are one key.
#[tokio::test]
async fn quoted_and_bare_keys_are_one() {
    let fixture = Fixture::new();
    fixture.send(&post("k-1", BODY)).await;
    for same in ["\"k-1\"", " k-1\t", "\t\"k-1\" "] {
        assert!(is_replayed(&fixture.send(&post(same, BODY)).await));
    }
    assert_eq!(fixture.runs(), 1);
}

/// H6: another body, path, query or content type under the same key is a 409 with its own type, and
/// does not run.
#[tokio::test]
async fn a_different_request_under_the_same_key_is_a_conflict() {
    let fixture = Fixture::new();
    fixture.send(&post("k-1", BODY)).await;
    let mut other_query = post("k-1", BODY);
    *other_query.uri_mut() = "/v1/charges?expand=customer".parse().unwrap();
    let mut other_type = post("k-1", BODY);
    other_type.headers_mut().remove("content-type");
    for request in [
        post("k-1", "{\"amount\":9999}"),
        post("k-1", ""),
        other_query,
        other_type,
    ] {
        let refused = fixture.send(&request).await;
        let problem = expect_problem(&refused, 409, "idempotency-key-reused");
        assert_eq!(
            problem.extension("retryable").and_then(|member| member.as_bool()),
            Some(false)
        );
        assert!(!refused.headers().contains_key("retry-after"));
    }
    assert_eq!(fixture.runs(), 1);
}

/// H6: the mismatch status can be 422, as in the draft.
#[tokio::test]
async fn the_mismatch_status_is_switchable() {
    let fixture =
        Fixture::new().configured(|it| it.with_mismatch_status(MismatchStatus::UnprocessableContent));
    fixture.send(&post("k-1", BODY)).await;
    expect_problem(
        &fixture.send(&post("k-1", "{}")).await,
        422,
        "idempotency-key-reused",
    );
}

/// H6: while the first request runs, the same request gets 409 with Retry-After and its own type,
/// and a different request gets the mismatch.
#[tokio::test]
async fn a_request_in_flight_is_waited_for() {
    let fixture = Fixture::new();
    fixture.break_off(&post("k-1", BODY)).await;
    let waiting = fixture.send(&post("k-1", BODY)).await;
    let problem = expect_problem(&waiting, 409, "idempotency-in-flight");
    assert_eq!(
        problem.extension("retryable").and_then(|member| member.as_bool()),
        Some(true)
    );
    assert_eq!(waiting.headers()["retry-after"], "5");
    expect_problem(
        &fixture.send(&post("k-1", "{}")).await,
        409,
        "idempotency-key-reused",
    );

    fixture.clock.advance(LEASE - Duration::from_millis(300));
    assert_eq!(
        fixture.send(&post("k-1", BODY)).await.headers()["retry-after"],
        "1"
    );
    assert_eq!(fixture.runs(), 1);
}

/// H6: keys of another principal, route or method are other keys, also if names could be joined in
/// two ways.
#[tokio::test]
async fn keys_are_scoped_to_principal_method_and_route() {
    let fixture = Fixture::new();
    let request = post("k-1", BODY);
    let mut patch = post("k-1", BODY);
    *patch.method_mut() = Method::PATCH;
    for scope in [
        SCOPE,
        KeyScope::new("user-8", "/v1/charges"),
        KeyScope::new("user-7/v1", "/charges"),
        KeyScope::new("user-7", "/v1"),
    ] {
        assert!(!is_replayed(&fixture.send_to(scope, &request).await));
        assert!(!is_replayed(&fixture.send_to(scope, &patch).await));
    }
    assert_eq!(fixture.runs(), 8);
}

/// H6: a malformed key is a 400 and nothing runs.
#[tokio::test]
async fn a_malformed_key_is_refused() {
    let fixture = Fixture::new();
    let too_long = "k".repeat(256);
    for key in [
        "",
        " ",
        "\"\"",
        "\"k",
        "k\"",
        "\"k\"x",
        "\"k\";a=1",
        "a,b",
        "a b",
        "caf\u{e9}",
        "\"\\k\"",
        &too_long,
    ] {
        expect_problem(
            &fixture.send(&post(key, BODY)).await,
            400,
            "idempotency-key-invalid",
        );
    }
    let mut twice = post("k-1", BODY);
    twice
        .headers_mut()
        .append("idempotency-key", "k-1".parse().unwrap());
    expect_problem(&fixture.send(&twice).await, 400, "idempotency-key-invalid");
    assert_eq!(fixture.runs(), 0);
}

/// H6: a request without a key runs, or gets 400 if keys are required.
#[tokio::test]
async fn a_missing_key_is_refused_only_where_required() {
    let mut request = post("k-1", BODY);
    request.headers_mut().remove("idempotency-key");
    let optional = Fixture::new();
    optional.send(&request).await;
    optional.send(&request).await;
    assert_eq!(optional.runs(), 2);

    let required = Fixture::new().configured(Idempotency::with_key_required);
    expect_problem(&required.send(&request).await, 400, "idempotency-key-missing");
    assert_eq!(required.runs(), 0);
}

/// H2: safe methods run each time, key or not.
#[tokio::test]
async fn safe_methods_pass_through() {
    let fixture = Fixture::new().configured(Idempotency::with_key_required);
    for method in ["GET", "HEAD", "OPTIONS", "QUERY"] {
        let mut request = post("k-1", BODY);
        *request.method_mut() = method.parse().unwrap();
        assert!(!is_replayed(&fixture.send(&request).await));
        assert!(!is_replayed(&fixture.send(&request).await));
    }
    assert_eq!(fixture.runs(), 8);
}

/// H6: a retried write gets its first response although its own effect made its If-Match stale.
#[tokio::test]
async fn a_replay_precedes_preconditions() {
    let fixture = Fixture::new();
    let resource = Mutex::new(EntityTag::strong("v1").unwrap());
    let mut request = post("k-1", BODY);
    *request.method_mut() = Method::PATCH;
    request
        .headers_mut()
        .insert("if-match", "\"v1\"".parse().unwrap());
    let update = async || {
        let mut tag = resource.lock().unwrap();
        let current = Validators::default().with_entity_tag(tag.clone());
        let decision = Preconditions::of(&request, SystemTime::UNIX_EPOCH).evaluate(Some(&current));
        if let Some(problem) = decision.problem(&problems()) {
            return problem.into_response();
        }
        *tag = EntityTag::strong("v2").unwrap();
        fixture.handle()
    };
    let first = fixture.idempotency.run(&request, SCOPE, update()).await.unwrap();
    assert_eq!(first.status(), 201);
    let again = fixture.idempotency.run(&request, SCOPE, update()).await.unwrap();
    assert_eq!(again.status(), 201);
    assert!(is_replayed(&again));
    assert_eq!(update().await.status(), 412);
}

/// H6: a record lives 24 hours after its request is settled.
#[tokio::test]
async fn a_key_is_free_again_after_twenty_four_hours() {
    let fixture = Fixture::new();
    fixture.send(&post("k-1", BODY)).await;
    fixture
        .clock
        .advance(Duration::from_secs(24 * 60 * 60) - Duration::from_nanos(1));
    assert!(is_replayed(&fixture.send(&post("k-1", BODY)).await));
    fixture.clock.advance(Duration::from_nanos(1));
    assert!(!is_replayed(&fixture.send(&post("k-1", BODY)).await));
    assert_eq!(fixture.runs(), 2);
}

/// H6: a lifetime shorter than the lease does not admit a second request while the first runs.
#[tokio::test]
async fn a_short_lifetime_never_ends_before_the_lease() {
    let fixture = Fixture::new().configured(|it| it.with_lifetime(Duration::from_secs(1)));
    fixture.break_off(&post("k-1", BODY)).await;
    fixture.clock.advance(LEASE - Duration::from_secs(1));
    expect_problem(
        &fixture.send(&post("k-1", BODY)).await,
        409,
        "idempotency-in-flight",
    );
}

/// H6: of 32 concurrent equal requests one runs; the others get 409 or its response.
#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_two_equal_requests_one_runs() {
    let fixture = Arc::new(Fixture::new());
    let racers = (0..32).map(|_| {
        let fixture = fixture.clone();
        tokio::spawn(async move { fixture.send(&post("k-1", BODY)).await })
    });
    let answers: Vec<_> = join_all(racers).await.into_iter().map(Result::unwrap).collect();
    let fresh = answers
        .iter()
        .filter(|answer| answer.status() == 201 && !is_replayed(answer))
        .count();
    let others = answers
        .iter()
        .filter(|answer| answer.status() == 409 || is_replayed(answer))
        .count();
    assert_eq!((fresh, others), (1, 31));
    assert_eq!(fixture.runs(), 1);
}

#[test]
fn the_endpoint_is_cheap_to_share() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug>() {}
    check::<Idempotency>();
}
