//! Idempotency keys where something fails: the handler, its process, or the store.

use std::{
    cell::Cell,
    error::Error as _,
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Response, StatusCode};
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, IdempotencyStore, Outcome, RecordKey, Reply, Settled, StoreError,
    StoreErrorKind, StoredResponse,
};

use crate::idempotency_fixture::{BODY, Fixture, LEASE, SCOPE, expect_problem, is_replayed, post};

/// H6: a server error is an outcome too, unless the handler says that nothing happened.
#[tokio::test]
async fn an_error_is_kept_unless_nothing_happened() {
    let fixture = Fixture::new();
    let fail = |mut response: Response<Bytes>| {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    };
    let failed = fixture
        .reply(SCOPE, &post("k-1", BODY), |response| Reply::Final(fail(response)))
        .await;
    assert_eq!(failed.status(), 500);
    let again = fixture.send(&post("k-1", BODY)).await;
    assert_eq!(again.status(), 500);
    assert!(is_replayed(&again));

    let refused = fixture
        .reply(SCOPE, &post("k-2", BODY), |response| {
            Reply::NothingHappened(fail(response))
        })
        .await;
    assert_eq!(refused.status(), 500);
    assert_eq!(fixture.send(&post("k-2", BODY)).await.status(), 201);
    assert_eq!(fixture.runs(), 3);
}

/// H6: an outcome that nobody knows is never run again.
#[tokio::test]
async fn an_unknown_outcome_is_never_run_again() {
    let fixture = Fixture::new();
    fixture
        .reply(SCOPE, &post("k-1", BODY), Reply::OutcomeUnknown)
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

/// H6: a result too large to keep is sent once, and never produced twice.
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

/// H6: exactly as much is kept as the host says, 1 MiB if it says nothing.
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

/// H6: a first request that broke off holds its key for the lease, and is then settled by policy: refused by default.
#[tokio::test]
async fn a_broken_off_request_is_refused_after_its_lease() {
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

/// H6: where the host says so, a first request that broke off is run again after its lease, and not before.
#[tokio::test]
async fn a_broken_off_request_runs_again_where_the_host_says_so() {
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

/// H6: a first run that is slower than its lease does not overwrite the answer of the run that took over.
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
    let second = fixture.idempotency.run(&request, SCOPE, takes_over).await;
    let late = late.take().unwrap();
    assert_eq!(
        (late.status(), second.status()),
        (StatusCode::CREATED, StatusCode::CREATED)
    );
    assert_ne!(late.body(), second.body());
    let again = fixture.send(&request).await;
    assert_eq!(again.body(), second.body());
    assert!(is_replayed(&again));
}

/// H6: a lease or lifetime beyond every calendar is a long one, not one that is over at once.
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

/// H6: a handler that panics leaves the key to its lease, not claimed forever.
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

/// A store that fails in a chosen way.
struct Broken(fn() -> Result<ClaimOutcome, StoreError>);

#[async_trait]
impl IdempotencyStore for Broken {
    async fn claim(&self, _: &Claim, _: SystemTime) -> Result<ClaimOutcome, StoreError> {
        self.0()
    }

    async fn complete(
        &self,
        _: &RecordKey,
        _: &Fence,
        _: Outcome,
        _: SystemTime,
    ) -> Result<Settled, StoreError> {
        Err(StoreError::unavailable("gone"))
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Err(StoreError::unavailable("gone"))
    }
}

/// H6: while the store is down nothing runs, and the answer is 503.
/// H12: a broken store is a server error with a problem body; a 503 says when to come back.
#[tokio::test]
async fn nothing_runs_while_the_store_is_down() {
    let down = Fixture::with_store(Arc::new(Broken(|| {
        Err(StoreError::unavailable("no route to secret-host"))
    })));
    let response = down.send(&post("k-1", BODY)).await;
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "1");
    assert!(!String::from_utf8_lossy(response.body()).contains("secret-host"));
    assert_eq!(cause(&response), "no route to secret-host");

    for corrupt in [
        || Err(StoreError::corrupt("not a record")),
        || Ok(stored(7, "etag", b"v")),
        || Ok(stored(200, "e tag", b"v")),
        || Ok(stored(200, "etag", b"a\r\nb")),
    ] {
        let fixture = Fixture::with_store(Arc::new(Broken(corrupt)));
        let response = fixture.send(&post("k-1", BODY)).await;
        assert_eq!(response.status(), 500);
        assert_eq!(kind(&response), StoreErrorKind::Corrupt);
        assert_eq!(fixture.runs(), 0);
    }
    assert_eq!(down.runs(), 0);
}

fn stored(status: u16, name: &str, value: &'static [u8]) -> ClaimOutcome {
    let headers = vec![(name.to_owned(), Bytes::from_static(value))];
    ClaimOutcome::Settled(Outcome::Completed(StoredResponse {
        status,
        headers,
        body: Bytes::new(),
    }))
}

/// What the host's log can learn from a response.
fn cause(response: &Response<Bytes>) -> String {
    error(response).source().unwrap().to_string()
}

fn kind(response: &Response<Bytes>) -> StoreErrorKind {
    error(response).kind()
}

fn error(response: &Response<Bytes>) -> &StoreError {
    response.extensions().get::<Arc<StoreError>>().unwrap()
}

/// H6: once the handler has run, its answer goes out even if it cannot be noted.
#[tokio::test]
async fn an_answer_goes_out_even_if_it_cannot_be_noted() {
    let fixture = Fixture::with_store(Arc::new(Broken(|| Ok(ClaimOutcome::Claimed))));
    let answer = fixture.send(&post("k-1", BODY)).await;
    assert_eq!(answer.status(), 201);
    assert_eq!(cause(&answer), "gone");
    let released = fixture
        .reply(SCOPE, &post("k-1", BODY), Reply::NothingHappened)
        .await;
    assert_eq!(released.status(), 201);
}
