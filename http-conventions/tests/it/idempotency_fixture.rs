//! A service with idempotency keys, shared by the tests of this folder.

use std::{
    error::Error as _,
    future::pending,
    mem::take,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::FutureExt as _;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response, StatusCode};
use http_conventions::{
    errors::{Problem, ProblemBase, ReceivedProblem},
    idempotency::{Idempotency, IdempotencyStore, KeyScope, MemoryIdempotencyStore, Reply},
};

pub(crate) const BODY: &str = "{\"amount\":1000}";
pub(crate) const SCOPE: KeyScope<'static> = KeyScope::new("user-7", "/v1/charges");
pub(crate) const LEASE: Duration = Duration::from_secs(60);

/// A service that counts the runs of its handler.
pub(crate) struct Fixture {
    pub(crate) idempotency: Idempotency,
    pub(crate) clock: ManualClock,
    runs: AtomicU32,
    failures: Arc<Mutex<Vec<String>>>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_store(Arc::new(MemoryIdempotencyStore::default()))
    }

    pub(crate) fn with_store(store: Arc<dyn IdempotencyStore>) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let entropy = SeededEntropy::new(7);
        let failures = Arc::new(Mutex::new(Vec::new()));
        let log = failures.clone();
        let idempotency = Idempotency::new(store, Arc::new(clock.clone()), &entropy, problems)
            .with_lease(LEASE)
            .with_failure_log(move |error| {
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                log.lock().unwrap().push(format!("{error}: {cause}"));
            });
        Self {
            idempotency,
            clock,
            runs: AtomicU32::new(0),
            failures,
        }
    }

    pub(crate) fn configured(mut self, configure: impl FnOnce(Idempotency) -> Idempotency) -> Self {
        self.idempotency = configure(self.idempotency);
        self
    }

    pub(crate) async fn send(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.send_to(SCOPE, request).await
    }

    pub(crate) async fn send_to(&self, scope: KeyScope<'_>, request: &Request<Bytes>) -> Response<Bytes> {
        self.reply(scope, request, Reply::Final).await
    }

    pub(crate) async fn reply(
        &self,
        scope: KeyScope<'_>,
        request: &Request<Bytes>,
        reply: impl FnOnce(Response<Bytes>) -> Reply,
    ) -> Response<Bytes> {
        self.idempotency
            .run(request, scope, async { reply(self.handle()) })
            .await
            .unwrap_or_else(Problem::into_response)
    }

    /// Store failures in the log of the host since the last call.
    pub(crate) fn failures(&self) -> Vec<String> {
        take(&mut *self.failures.lock().unwrap())
    }

    pub(crate) fn handle(&self) -> Response<Bytes> {
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

    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    /// Sends a first request whose handler is dropped midway, as by a broken connection.
    pub(crate) async fn break_off(&self, request: &Request<Bytes>) {
        let never = async {
            self.runs.fetch_add(1, Ordering::SeqCst);
            pending::<Response<Bytes>>().await
        };
        let first = self.idempotency.run(request, SCOPE, never);
        assert!(first.now_or_never().is_none());
    }
}

pub(crate) fn problems() -> ProblemBase {
    ProblemBase::new("https://api.example.com/problems/").unwrap()
}

pub(crate) fn post(key: &str, body: &'static str) -> Request<Bytes> {
    Request::post("/v1/charges")
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .body(Bytes::from_static(body.as_bytes()))
        .unwrap()
}

#[track_caller]
pub(crate) fn expect_problem(response: &Response<Bytes>, status: u16, slug: &str) -> ReceivedProblem {
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

pub(crate) fn is_replayed(response: &Response<Bytes>) -> bool {
    response
        .headers()
        .get("idempotency-replayed")
        .is_some_and(|value| value == "true")
}
