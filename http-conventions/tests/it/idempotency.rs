//! The wrapper around a handler, seen from a client.

use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{FutureExt as _, future::join_all};
use http::{Method, Request, Response, StatusCode};
use http_conventions::{
    conditional::{EntityTag, Preconditions, Validators},
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, Idempotency, IdempotencyStore, MemoryIdempotencyStore,
        MismatchStatus, Outcome, RecordKey, Reply, Scope, Settled, StoreError, StoredResponse,
    },
    problem::{ProblemBase, ReceivedProblem},
    testing::{ManualClock, SeededEntropy},
};

const BODY: &str = "{\"amount\":1000}";
const SCOPE: Scope<'static> = Scope::new("user-7", "/v1/charges");
const LEASE: Duration = Duration::from_secs(60);

/// A service that counts how often its handler really ran.
struct Fixture {
    idempotency: Idempotency,
    clock: ManualClock,
    runs: AtomicU32,
}

impl Fixture {
    fn new() -> Self {
        Self::with_store(Arc::new(MemoryIdempotencyStore::default()))
    }

    fn with_store(store: Arc<dyn IdempotencyStore>) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let entropy = Arc::new(SeededEntropy::new(7));
        let idempotency =
            Idempotency::new(store, Arc::new(clock.clone()), entropy, problems).with_lease(LEASE);
        Self {
            idempotency,
            clock,
            runs: AtomicU32::new(0),
        }
    }

    fn configured(mut self, configure: impl FnOnce(Idempotency) -> Idempotency) -> Self {
        self.idempotency = configure(self.idempotency);
        self
    }

    async fn send(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.send_to(SCOPE, request).await
    }

    async fn send_to(&self, scope: Scope<'_>, request: &Request<Bytes>) -> Response<Bytes> {
        self.reply(scope, request, Reply::Final).await
    }

    async fn reply(
        &self,
        scope: Scope<'_>,
        request: &Request<Bytes>,
        reply: impl FnOnce(Response<Bytes>) -> Reply,
    ) -> Response<Bytes> {
        self.idempotency
            .run(request, scope, async { reply(self.handle()) })
            .await
    }

    fn handle(&self) -> Response<Bytes> {
        let number = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        Response::builder()
            .status(StatusCode::CREATED)
            .header("content-type", "application/json")
            .header("location", format!("/v1/charges/ch_{number}"))
            .header("etag", "\"v1\"")
            .header("set-cookie", "a=b")
            .header("x-request-id", "first-request")
            .body(Bytes::from(format!("{{\"id\":\"ch_{number}\"}}")))
            .unwrap()
    }

    fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    /// A first request whose handler is dropped in the middle, as when its connection breaks.
    async fn break_off(&self, request: &Request<Bytes>) {
        let never = async {
            self.runs.fetch_add(1, Ordering::SeqCst);
            pending::<Response<Bytes>>().await
        };
        let first = self.idempotency.run(request, SCOPE, never);
        assert!(first.now_or_never().is_none());
    }
}

fn problems() -> ProblemBase {
    ProblemBase::new("https://api.example.com/problems/").unwrap()
}

fn post(key: &str, body: &'static str) -> Request<Bytes> {
    Request::post("/v1/charges")
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .body(Bytes::from_static(body.as_bytes()))
        .unwrap()
}

#[track_caller]
fn expect_problem(response: &Response<Bytes>, status: u16, slug: &str) -> ReceivedProblem {
    assert_eq!(response.status(), status);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let problem = ReceivedProblem::parse(response.body()).unwrap();
    assert_eq!(
        problem.type_uri(),
        format!("https://api.example.com/problems/{slug}")
    );
    assert_eq!(problem.status(), Some(status));
    problem
}

fn is_replayed(response: &Response<Bytes>) -> bool {
    response
        .headers()
        .get("idempotency-replayed")
        .is_some_and(|value| value == "true")
}

/// H6: same key and same body get the stored status, headers and body, marked as replayed; the handler runs once.
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

/// H6: what belongs to one exchange is not replayed.
/// H5: a replay does not bring back the request id of the first request.
#[tokio::test]
async fn cookies_and_request_ids_are_not_replayed() {
    let fixture = Fixture::new();
    fixture.send(&post("k-1", BODY)).await;
    let again = fixture.send(&post("k-1", BODY)).await;
    assert!(!again.headers().contains_key("set-cookie"));
    assert!(!again.headers().contains_key("x-request-id"));
}

/// H6: the quoted and the bare form are one key.
#[tokio::test]
async fn quoted_and_bare_keys_are_one() {
    let fixture = Fixture::new();
    fixture.send(&post("k-1", BODY)).await;
    assert!(is_replayed(&fixture.send(&post("\"k-1\"", BODY)).await));
    assert_eq!(fixture.runs(), 1);
}

/// H6: another body, path, query or content type under the same key is a 409 with a type of its own, never a run.
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

/// H6: the mismatch status can be the draft's 422.
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

/// H6: while the first request runs, the same request hears 409 with Retry-After and a type of its own, and a different
/// one hears of the mismatch first.
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

/// H6: keys of another principal, route or method are other keys, also where names could be joined in two ways.
#[tokio::test]
async fn keys_are_scoped_to_principal_method_and_route() {
    let fixture = Fixture::new();
    let request = post("k-1", BODY);
    let mut patch = post("k-1", BODY);
    *patch.method_mut() = Method::PATCH;
    for scope in [
        SCOPE,
        Scope::new("user-8", "/v1/charges"),
        Scope::new("user-7/v1", "/charges"),
        Scope::new("user-7", "/v1"),
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

/// H6: a missing key just runs, or is a 400 where the host asks for one.
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
    expect_problem(
        &fixture.send(&post("k-1", BODY)).await,
        409,
        "idempotency-outcome-unknown",
    );
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
    assert_eq!(fixture.runs(), 1);
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

/// H6: a retried write gets its first answer although its own effect has made its If-Match stale.
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
    let first = fixture.idempotency.run(&request, SCOPE, update()).await;
    assert_eq!(first.status(), 201);
    let again = fixture.idempotency.run(&request, SCOPE, update()).await;
    assert_eq!(again.status(), 201);
    assert!(is_replayed(&again));
    assert_eq!(update().await.status(), 412);
}

/// H6: a record lives 24 hours after its request is over.
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

/// H6: a lifetime shorter than the lease does not let a second request in while the first runs.
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

/// H6: of 32 equal requests at once, one runs; the others wait or get its answer.
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

    for corrupt in [
        || Err(StoreError::corrupt("not a record")),
        || Ok(stored(7, "etag", b"v")),
        || Ok(stored(200, "e tag", b"v")),
        || Ok(stored(200, "etag", b"a\r\nb")),
    ] {
        let fixture = Fixture::with_store(Arc::new(Broken(corrupt)));
        assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 500);
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

/// H6: once the handler has run, its answer goes out even if it cannot be noted.
#[tokio::test]
async fn an_answer_goes_out_even_if_it_cannot_be_noted() {
    let fixture = Fixture::with_store(Arc::new(Broken(|| Ok(ClaimOutcome::Claimed))));
    assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 201);
    let released = fixture
        .reply(SCOPE, &post("k-1", BODY), Reply::NothingHappened)
        .await;
    assert_eq!(released.status(), 201);
}

#[test]
fn the_endpoint_is_cheap_to_share() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug>() {}
    check::<Idempotency>();
}
