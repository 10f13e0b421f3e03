//! Idempotency keys if the handler, its process or the store fails.

use std::{
    cell::Cell,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex},
    task::Poll,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderValue, Response, StatusCode};
use http_conventions::{
    errors::{ErrorStatus, Member, Problem},
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, Idempotency, IdempotencyStore, IntoReply as _,
        MemoryIdempotencyStore, RecordKey, Reply, RequestOutcome, Settled,
    },
    ports::StoreError,
    routing::RequestId,
};

use crate::idempotency_fixture::{BODY, Fixture, LEASE, SCOPE, expect_problem, is_replayed, post, problems};

fn failed() -> Problem {
    Problem::new(ErrorStatus::BAD_GATEWAY)
}

/// H6: a server error is an outcome too, unless the handler says that nothing took effect.
#[tokio::test]
async fn an_error_is_kept_unless_nothing_happened() {
    let fixture = Fixture::new();
    let first = fixture
        .reply(SCOPE, &post("k-1", BODY), |_| {
            Reply::Final(failed().into_response())
        })
        .await;
    assert_eq!(first.status(), 502);
    let again = fixture.send(&post("k-1", BODY)).await;
    assert_eq!((again.status(), again.body()), (first.status(), first.body()));
    assert!(is_replayed(&again));

    let refused = fixture
        .reply(SCOPE, &post("k-2", BODY), |_| Reply::NothingHappened(failed()))
        .await;
    assert_eq!(refused.status(), 502);
    assert_eq!(fixture.send(&post("k-2", BODY)).await.status(), 201);
    assert_eq!(fixture.runs(), 3);
}

/// H6: a request with an unknown outcome never runs again.
#[tokio::test]
async fn an_unknown_outcome_is_never_run_again() {
    let fixture = Fixture::new();
    fixture
        .reply(SCOPE, &post("k-1", BODY), |_| Reply::OutcomeUnknown(failed()))
        .await;
    let refused = fixture.send(&post("k-1", BODY)).await;
    let problem = expect_problem(&refused, 409, "idempotency-outcome-unknown");
    assert_eq!(
        problem.extension("retryable").and_then(|member| member.as_bool()),
        Some(false)
    );
    assert!(!refused.headers().contains_key("retry-after"));
    assert_eq!(fixture.runs(), 1);
}

/// H6: a `Result` of the handler is an outcome, except for a server error, whose outcome is
/// unknown.
#[tokio::test]
async fn a_problem_of_the_handler_is_kept_unless_it_is_a_server_error() {
    let fixture = Fixture::new();
    let handled = |problem: Problem| Err::<Response<Bytes>, _>(problem).into_reply(&problems());
    let refuse = |_| handled(Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT));
    let first = fixture.reply(SCOPE, &post("k-1", BODY), refuse).await;
    let again = fixture.send(&post("k-1", BODY)).await;
    assert_eq!((first.status().as_u16(), again.body()), (422, first.body()));
    assert!(is_replayed(&again));

    fixture
        .reply(SCOPE, &post("k-2", BODY), |_| handled(failed()))
        .await;
    let again = fixture.send(&post("k-2", BODY)).await;
    expect_problem(&again, 409, "idempotency-outcome-unknown");

    let made = fixture
        .reply(SCOPE, &post("k-3", BODY), |made| {
            Ok::<_, Problem>(made).into_reply(&problems())
        })
        .await;
    assert_eq!(fixture.send(&post("k-3", BODY)).await.body(), made.body());
}

/// H6: a response with a secret is sent once: the store keeps its status alone, and the request
/// never runs again.
#[tokio::test]
async fn a_response_with_a_secret_is_not_stored() {
    let seen = Arc::new(Seen::default());
    let fixture = Fixture::with_store(seen.clone());
    let with_secret = |response: Response<Bytes>| {
        let mut response = response.map(|_| Bytes::from_static(b"whsec_body"));
        let secret = HeaderValue::from_static("whsec_header");
        response.headers_mut().insert("x-secret", secret);
        let reply = Reply::Unkept(response);
        assert_eq!(format!("{reply:?}"), "Unkept(201)");
        reply
    };
    let first = fixture.reply(SCOPE, &post("k-1", BODY), with_secret).await;
    assert_eq!(
        (first.status().as_u16(), first.body().as_ref()),
        (201, &b"whsec_body"[..])
    );
    assert_eq!(
        *seen.kept.lock().unwrap(),
        [RequestOutcome::Unreplayable { status: 201 }]
    );

    let again = fixture.send(&post("k-1", BODY)).await;
    let problem = expect_problem(&again, 409, "idempotency-result-not-replayable");
    let original = problem.extension("original_status").and_then(Member::as_integer);
    assert_eq!(original, Some(201));
    assert_eq!(fixture.runs(), 1);
}

/// A memory store that records what it stores.
#[derive(Default)]
struct Seen {
    store: MemoryIdempotencyStore,
    kept: Mutex<Vec<RequestOutcome>>,
}

#[async_trait]
impl IdempotencyStore for Seen {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        self.store.claim(claim, now).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.kept.lock().unwrap().push(outcome.clone());
        self.store.complete(key, fence, outcome, expires_at).await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.store.release(key, fence).await
    }
}

/// H13: a refusal by this crate is a problem that the host completes.
#[tokio::test]
async fn a_refusal_is_a_problem_for_the_host_to_complete() {
    let fixture = Fixture::new().configured(Idempotency::with_key_required);
    let id: RequestId = "checkout-7f3a".parse().unwrap();
    let mut keyless = post("k-1", BODY);
    keyless.headers_mut().remove("idempotency-key");
    fixture.send(&post("k-2", BODY)).await;
    for (request, slug) in [
        (keyless, "idempotency-key-missing"),
        (post("a,b", BODY), "idempotency-key-invalid"),
        (post("k-2", "{}"), "idempotency-key-reused"),
    ] {
        let refused = fixture
            .idempotency
            .run(&request, SCOPE, async { fixture.handle() });
        let problem = refused.await.unwrap_err();
        let status = problem.status().as_u16();
        let response = problem
            .with_instance("/v1/charges")
            .with_request_id(&id)
            .into_response();
        let problem = expect_problem(&response, status, slug);
        assert_eq!(problem.instance(), Some("/v1/charges"));
        assert_eq!(
            problem.extension("request_id").and_then(Member::as_str),
            Some("checkout-7f3a")
        );
    }
    assert_eq!(fixture.runs(), 1);
}

/// H6: a response too large to store is sent once, and never produced twice.
#[tokio::test]
async fn a_result_too_large_to_keep_is_never_run_twice() {
    let fixture = Fixture::new().configured(|it| it.with_max_stored_body(4));
    let first = fixture.send(&post("k-1", BODY)).await;
    assert_eq!(first.status(), 201);
    let again = fixture.send(&post("k-1", BODY)).await;
    let problem = expect_problem(&again, 409, "idempotency-result-not-replayable");
    assert_eq!(
        problem
            .extension("original_status")
            .and_then(|member| member.as_integer()),
        Some(201)
    );
    assert_eq!(
        problem.extension("retryable").and_then(|member| member.as_bool()),
        Some(false)
    );
    assert_eq!(fixture.runs(), 1);
}

/// H6: bodies up to the configured limit are stored, 1 MiB by default.
#[tokio::test]
async fn a_result_of_just_the_largest_size_is_kept() {
    let fixture = Fixture::new();
    for (key, size, status) in [("k-1", 1 << 20, 201), ("k-2", (1 << 20) + 1, 409)] {
        let reply = |response: Response<Bytes>| Reply::Final(response.map(|_| vec![b'x'; size].into()));
        fixture.reply(SCOPE, &post(key, BODY), reply).await;
        let again = fixture.send(&post(key, BODY)).await;
        assert_eq!(
            (again.status().as_u16(), is_replayed(&again)),
            (status, status == 201)
        );
    }
    assert_eq!(fixture.runs(), 2);
}

/// H6: a crashed first request holds its key for the lease; then it is refused by default.
#[tokio::test]
async fn a_crashed_request_is_refused_after_its_lease() {
    let fixture = Fixture::new();
    fixture.break_off(&post("k-1", BODY)).await;
    fixture.clock.advance(LEASE);
    expect_problem(
        &fixture.send(&post("k-1", BODY)).await,
        409,
        "idempotency-outcome-unknown",
    );
    assert_eq!(fixture.runs(), 1);
}

/// H6: with `RunAgain` a crashed first request runs again after its lease, not before.
#[tokio::test]
async fn a_crashed_request_runs_again_if_configured() {
    let fixture = Fixture::new().configured(|it| it.with_after_crash(AfterCrash::RunAgain));
    fixture.break_off(&post("k-1", BODY)).await;
    fixture.clock.advance(LEASE - Duration::from_nanos(1));
    expect_problem(
        &fixture.send(&post("k-1", BODY)).await,
        409,
        "idempotency-in-flight",
    );
    fixture.clock.advance(Duration::from_nanos(1));
    assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 201);
    assert!(is_replayed(&fixture.send(&post("k-1", BODY)).await));
    assert_eq!(fixture.runs(), 2);
}

/// H6: a handler slower than its lease is not run concurrently: a retry gets 409 outcome unknown,
/// and the response once there is one. The lease limits the wait of a retry.
#[tokio::test]
async fn handler_slower_than_its_lease_does_not_run_twice() {
    let fixture = Fixture::new();
    let request = post("k-1", BODY);
    let may_finish = Cell::new(false);
    let slow = async {
        poll_fn(|_| match may_finish.get() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        fixture.handle()
    };
    let mut first = pin!(fixture.idempotency.run(&request, SCOPE, slow));
    assert!(first.as_mut().now_or_never().is_none());
    fixture.clock.advance(LEASE - Duration::from_nanos(1));
    expect_problem(&fixture.send(&request).await, 409, "idempotency-in-flight");
    fixture.clock.advance(Duration::from_nanos(1));
    for _ in 0..2 {
        expect_problem(&fixture.send(&request).await, 409, "idempotency-outcome-unknown");
    }
    may_finish.set(true);
    let late = first.await.unwrap();
    let again = fixture.send(&request).await;
    assert!(is_replayed(&again));
    assert_eq!((again.body(), fixture.runs()), (late.body(), 1));
}

/// H6: a first run slower than its lease does not overwrite the response of the run that took over.
#[tokio::test]
async fn a_run_that_lost_its_key_overwrites_nothing() {
    let fixture = Fixture::new().configured(|it| it.with_after_crash(AfterCrash::RunAgain));
    let request = post("k-1", BODY);
    let may_finish = Cell::new(false);
    let slow = async {
        poll_fn(|_| match may_finish.get() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        fixture.handle()
    };
    let mut first = pin!(fixture.idempotency.run(&request, SCOPE, slow));
    assert!(first.as_mut().now_or_never().is_none());

    fixture.clock.advance(LEASE);
    // the first ends while the second runs
    let late = Cell::new(None);
    let takes_over = async {
        may_finish.set(true);
        late.set(Some(first.await));
        fixture.handle()
    };
    let second = fixture
        .idempotency
        .run(&request, SCOPE, takes_over)
        .await
        .unwrap();
    let late = late.take().unwrap().unwrap();
    assert_eq!(
        (late.status(), second.status()),
        (StatusCode::CREATED, StatusCode::CREATED)
    );
    assert_ne!(late.body(), second.body());
    let again = fixture.send(&request).await;
    assert_eq!(again.body(), second.body());
    assert!(is_replayed(&again));
}

/// H6: a lease or lifetime beyond the calendar does not expire at once.
#[tokio::test]
async fn an_endless_lease_does_not_end() {
    let fixture = Fixture::new().configured(|it| it.with_lease(Duration::MAX).with_lifetime(Duration::MAX));
    fixture.break_off(&post("k-1", BODY)).await;
    fixture.send(&post("k-2", BODY)).await;
    fixture.clock.advance(LEASE * 60 * 24 * 365 * 99);
    expect_problem(
        &fixture.send(&post("k-1", BODY)).await,
        409,
        "idempotency-in-flight",
    );
    assert!(is_replayed(&fixture.send(&post("k-2", BODY)).await));
}

/// H6: a handler that panics frees its key after the lease.
#[tokio::test]
async fn a_panicking_handler_does_not_hold_its_key_forever() {
    let fixture = Arc::new(Fixture::new().configured(|it| it.with_after_crash(AfterCrash::RunAgain)));
    let crashing = fixture.clone();
    let crash = tokio::spawn(async move {
        let handler = async { panic!("the handler fails") as Response<Bytes> };
        crashing.idempotency.run(&post("k-1", BODY), SCOPE, handler).await
    });
    assert!(crash.await.unwrap_err().is_panic());
    expect_problem(
        &fixture.send(&post("k-1", BODY)).await,
        409,
        "idempotency-in-flight",
    );
    fixture.clock.advance(LEASE);
    assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 201);
}
