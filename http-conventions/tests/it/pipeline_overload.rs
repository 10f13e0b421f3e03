//! Deadlines and concurrency limits in the pipeline. A deadline never stops unsafe work half-way.

use std::{
    future::{pending, ready},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response};
use http_conventions::{
    audit::audit,
    errors::{ProblemBase, ReceivedProblem},
    idempotency::{HeldKey, Idempotency, IdempotencyStore as _, KeyScope, MemoryIdempotencyStore, Reply},
    limits::{CallerConcurrency, ConcurrencyLimit, Deadline, Priority, RetryAfter},
    openapi::Takes,
    pipeline::{Conventions, EarlyResponse, Exchange, Limited},
};
use tokio::sync::Notify;

use crate::pipeline_fixture::{BASE, json, request};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
const LIMIT: Duration = Duration::from_secs(10);
const SCOPE: KeyScope<'static> = KeyScope::new("user-7", "/v1/charges");

/// A service whose handlers wait until they are told to go on.
#[derive(Clone)]
struct Host {
    conventions: Conventions,
    clock: ManualClock,
    store: Arc<MemoryIdempotencyStore>,
    /// Handlers that have begun, and that have ended.
    begun: Arc<AtomicU32>,
    ended: Arc<AtomicU32>,
    go_on: Arc<Notify>,
}

impl Host {
    fn new() -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let store = Arc::new(MemoryIdempotencyStore::default());
        let base = ProblemBase::new(BASE).unwrap();
        let keys = Idempotency::new(store.clone(), clock.clone(), &SeededEntropy::new(7), base);
        let builder = Conventions::builder(BASE, clock.clone(), SeededEntropy::new(8));
        Self {
            conventions: builder.with_idempotency(keys).build().unwrap(),
            clock,
            store,
            begun: Arc::default(),
            ended: Arc::default(),
            go_on: Arc::default(),
        }
    }

    fn deadline(&self) -> Deadline {
        Deadline::new(self.clock.clone(), LIMIT)
    }

    fn begin(&self, request: &Request<Bytes>) -> Exchange<Limited> {
        let exchange = self.conventions.begin(request).admit(request).unwrap();
        exchange.skip_rate_limit().with_deadline(&self.deadline())
    }

    async fn handle(&self) -> Response<Bytes> {
        self.begun.fetch_add(1, SeqCst);
        self.go_on.notified().await;
        let number = self.ended.fetch_add(1, SeqCst) + 1;
        let mut response = json(&format!("{{\"id\":{number}}}"));
        *response.status_mut() = http::StatusCode::CREATED;
        response
            .headers_mut()
            .insert("location", "/v1/charges/1".parse().unwrap());
        response
    }

    async fn run(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.begin(request).run(request, SCOPE, self.handle()).await
    }

    async fn run_in_transaction(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let handler = async |held: Option<HeldKey>| {
            let response = self.handle().await;
            self.commit(held, response).await
        };
        self.begin(request)
            .run_in_transaction(request, SCOPE, handler)
            .await
    }

    async fn commit(&self, held: Option<HeldKey>, response: Response<Bytes>) -> Reply {
        let Some(held) = held else {
            return Reply::completed(response, None);
        };
        let settlement = held.settlement(&response);
        let (key, fence) = (&settlement.key, &settlement.fence);
        let (outcome, expires_at) = (settlement.outcome.clone(), settlement.expires_at);
        let settled = self.store.complete(key, fence, outcome, expires_at).await;
        Reply::completed(response, Some(settlement.receipt(settled.unwrap()).unwrap()))
    }

    fn counts(&self) -> (u32, u32) {
        (self.begun.load(SeqCst), self.ended.load(SeqCst))
    }
}

/// Polls the future once; it must be pending.
macro_rules! expect_pending {
    ($future:expr) => {
        tokio::select! {
            biased;
            _ = &mut $future => panic!("is pending"),
            () = ready(()) => {}
        }
    };
}

fn assert_late(request: &Request<Bytes>, response: &Response<Bytes>, status: u16) {
    assert_eq!(response.status(), status);
    assert_eq!(response.headers()["retry-after"], "1");
    let problem = ReceivedProblem::parse(response.body()).unwrap();
    assert!(problem.detail().unwrap().contains("in time"));
    assert_eq!(audit(request, response), []);
}

fn is_replayed(response: &Response<Bytes>) -> bool {
    response.headers().contains_key("idempotency-replayed")
}

/// H29: the handler of a safe method is dropped at the deadline, and not before.
#[tokio::test]
async fn safe_handler_is_dropped_at_the_deadline() {
    let host = Host::new();
    let request = request("GET", "/v1/charges", &[KEY]);
    let mut running = Box::pin(host.run(&request));
    expect_pending!(running);
    host.clock.advance(LIMIT - Duration::from_millis(1));
    expect_pending!(running);
    host.clock.advance(Duration::from_millis(1));
    assert_late(&request, &running.await, 503);
    host.go_on.notify_waiters();
    assert_eq!(host.counts(), (1, 0));
}

/// H29: a handler in time is not affected.
#[tokio::test]
async fn handler_in_time_sends_its_response() {
    let host = Host::new();
    for method in ["GET", "POST"] {
        let request = request(method, "/v1/charges", &[]);
        let mut running = Box::pin(host.run(&request));
        expect_pending!(running);
        host.go_on.notify_waiters();
        assert_eq!(running.await.status(), 201);
    }
}

/// H29: the handler of an unsafe method ends after the deadline, and its key with its response.
#[tokio::test]
async fn unsafe_handler_continues_after_the_deadline() {
    let host = Host::new();
    let request = request("POST", "/v1/charges", &[KEY]);
    let mut running = Box::pin(host.run(&request));
    expect_pending!(running);
    host.clock.advance(2 * LIMIT);
    expect_pending!(running);
    host.go_on.notify_waiters();
    let late = running.await;
    assert_eq!((late.status().as_u16(), is_replayed(&late)), (201, false));
    let retried = host.begin(&request).run(&request, SCOPE, host.handle()).await;
    assert_eq!((retried.body(), is_replayed(&retried)), (late.body(), true));
    assert_eq!(host.counts(), (1, 1));
}

/// H29: a client that waits for a task gets 503 at the deadline. The task continues: a retry gets
/// 409 while it runs, and then its response.
#[tokio::test]
async fn retry_after_503_gets_the_response_of_the_task() {
    let host = Host::new();
    let request = request("POST", "/v1/charges", &[KEY]);
    let exchange = host.begin(&request);
    let waiting = exchange.clone();
    let task = tokio::spawn({
        let (host, request) = (host.clone(), request.clone());
        async move { exchange.run(&request, SCOPE, host.handle()).await }
    });
    let (observer, task) = (task.abort_handle(), task);
    let mut waiting = Box::pin(waiting.wait_for(task));
    while host.counts().0 == 0 {
        expect_pending!(waiting);
        tokio::task::yield_now().await;
    }
    host.clock.advance(LIMIT);
    let late = waiting.await.unwrap_err().into_response();
    assert_late(&request, &late, 503);
    let body = String::from_utf8_lossy(late.body()).into_owned();
    assert!(body.contains("may still take effect"), "{body}");

    let retried = host.run(&request).await;
    assert_eq!((retried.status().as_u16(), host.counts()), (409, (1, 0)));
    host.go_on.notify_waiters();
    while !observer.is_finished() {
        tokio::task::yield_now().await;
    }
    let retried = host.run(&request).await;
    assert_eq!((retried.status().as_u16(), is_replayed(&retried)), (201, true));
    assert_eq!(host.counts(), (1, 1));
}

/// H29: a task that ends in time is not affected, nor is one without a deadline.
#[tokio::test]
async fn task_in_time_sends_its_response() {
    let host = Host::new();
    let request = request("POST", "/v1/charges", &[]);
    assert_eq!(host.begin(&request).wait_for(ready(7)).await.unwrap(), 7);
    let exchange = host.conventions.begin(&request);
    let mut endless = Box::pin(exchange.wait_for(pending::<()>()));
    host.clock.advance(2 * LIMIT);
    expect_pending!(endless);
}

/// H29, H23: a transaction that has not committed at the deadline is dropped; its key is free.
#[tokio::test]
async fn transaction_is_dropped_and_its_key_is_free() {
    let host = Host::new();
    let request = request("POST", "/v1/charges", &[KEY]);
    let mut running = Box::pin(host.run_in_transaction(&request));
    expect_pending!(running);
    host.clock.advance(LIMIT);
    assert_late(&request, &running.await, 503);

    let mut retried = Box::pin(host.run_in_transaction(&request));
    expect_pending!(retried);
    host.go_on.notify_waiters();
    let retried = retried.await;
    assert_eq!((retried.status().as_u16(), is_replayed(&retried)), (201, false));
    let again = host.run_in_transaction(&request).await;
    assert_eq!((again.body(), is_replayed(&again)), (retried.body(), true));
    assert_eq!(host.counts(), (2, 1));
}

/// H29, H23: a transaction that has committed before the deadline answers with its response.
#[tokio::test]
async fn committed_transaction_answers_at_the_deadline() {
    let host = Host::new();
    let request = request("POST", "/v1/charges", &[KEY]);
    let handler = async |held: Option<HeldKey>| {
        drop(host.commit(held, json("{\"id\":1}")).await);
        // the commit is on disk, and its confirmation is lost
        pending::<Reply>().await
    };
    let mut running = Box::pin(host.begin(&request).run_in_transaction(&request, SCOPE, handler));
    expect_pending!(running);
    host.clock.advance(LIMIT);
    let response = running.await;
    assert_eq!((response.status().as_u16(), is_replayed(&response)), (200, true));
    assert_eq!(response.body(), "{\"id\":1}");
}

/// H29: without a key no record shows if the transaction has committed, so the handler continues.
#[tokio::test]
async fn transaction_without_a_key_continues() {
    let host = Host::new();
    let request = request("POST", "/v1/charges", &[]);
    let mut running = Box::pin(host.run_in_transaction(&request));
    expect_pending!(running);
    host.clock.advance(LIMIT);
    expect_pending!(running);
    host.go_on.notify_waiters();
    assert_eq!(running.await.status(), 201);
}

/// H29: a handler that would begin after the deadline does not run, and its key is free.
#[tokio::test]
async fn handler_does_not_begin_after_the_deadline() {
    let host = Host::new();
    for method in ["GET", "POST"] {
        let request = request(method, "/v1/charges", &[KEY]);
        for is_in_transaction in [false, true] {
            let exchange = host.begin(&request);
            host.clock.advance(LIMIT);
            let late = match is_in_transaction {
                true => {
                    // the closure itself is not called either
                    let handler = |_held| {
                        host.begun.fetch_add(1, SeqCst);
                        async { Reply::Final(host.handle().await) }
                    };
                    exchange.run_in_transaction(&request, SCOPE, handler).await
                }
                false => exchange.run(&request, SCOPE, host.handle()).await,
            };
            assert_late(&request, &late, 503);
        }
        assert_eq!(host.counts(), (0, 0));
    }
    let request = request("POST", "/v1/charges", &[KEY]);
    let mut running = Box::pin(host.run(&request));
    expect_pending!(running);
    host.go_on.notify_waiters();
    assert_eq!(running.await.status(), 201);
}

/// H29: a gateway sends 504, and the host chooses the wait.
#[tokio::test]
async fn gateway_sends_504() {
    let host = Host::new();
    let gateway = host.deadline().with_gateway_timeout();
    let gateway = gateway.with_retry_after(RetryAfter::new(Duration::from_secs(30)));
    let request = request("GET", "/v1/charges", &[]);
    let exchange = host.begin(&request).with_deadline(&gateway);
    let mut running = Box::pin(exchange.run(&request, SCOPE, host.handle()));
    expect_pending!(running);
    host.clock.advance(LIMIT);
    let late = running.await;
    assert_eq!(late.status(), 504);
    assert_eq!(late.headers()["retry-after"], "30");
    assert_eq!(audit(&request, &late), []);
}

/// H29: an exchange holds its permits while its handler runs, and returns them with its response,
/// also after a panic or when it is dropped.
#[tokio::test]
async fn permit_is_held_while_the_handler_runs() {
    let (host, limit) = (Host::new(), ConcurrencyLimit::new(1));
    let request = request("POST", "/v1/charges", &[]);
    let begin = || {
        host.begin(&request)
            .hold(limit.acquire(Priority::Ordinary))
            .unwrap()
    };
    let handler = async {
        assert_eq!(limit.in_flight(), 1);
        json("{}")
    };
    assert_eq!(begin().run(&request, SCOPE, handler).await.status(), 200);
    let panics = async { std::panic::resume_unwind(Box::new(())) };
    let panicked = begin().run::<Response<Bytes>>(&request, SCOPE, panics).await;
    assert_eq!((panicked.status().as_u16(), limit.in_flight()), (500, 0));

    let mut running = Box::pin(begin().run(&request, SCOPE, host.handle()));
    expect_pending!(running);
    assert_eq!(limit.in_flight(), 1);
    drop(running);
    assert_eq!(limit.in_flight(), 0);
}

/// H29: work that continues after its deadline keeps its permit.
#[tokio::test]
async fn late_work_keeps_its_permit() {
    let (host, limit) = (Host::new(), ConcurrencyLimit::new(1));
    let request = request("POST", "/v1/charges", &[]);
    let exchange = host
        .begin(&request)
        .hold(limit.acquire(Priority::Ordinary))
        .unwrap();
    let waiting = exchange.clone();
    let mut work = Box::pin(exchange.run(&request, SCOPE, host.handle()));
    let mut waiting = Box::pin(waiting.wait_for(pending::<()>()));
    expect_pending!(work);
    expect_pending!(waiting);
    host.clock.advance(LIMIT);
    assert_late(&request, &waiting.await.unwrap_err().into_response(), 503);
    assert_eq!(limit.in_flight(), 1);
    host.go_on.notify_waiters();
    assert_eq!(work.await.status(), 201);
    assert_eq!(limit.in_flight(), 0);
}

/// H29: a refused request gets a finished 503 or 429, and returns the permits that it holds.
#[test]
fn refusal_is_finished_and_returns_permits() {
    let (host, limit, callers) = (Host::new(), ConcurrencyLimit::new(1), CallerConcurrency::new(0));
    let request = request("POST", "/v1/charges", &[]);
    let refuse = || -> Result<Exchange<Limited>, EarlyResponse> {
        let exchange = host.begin(&request).hold(limit.acquire(Priority::Ordinary))?;
        exchange.hold(callers.acquire("user-7"))
    };
    let refused = refuse().unwrap_err().into_response();
    assert_eq!(refused.status(), 429);
    assert_eq!(audit(&request, &refused), []);
    assert_eq!(limit.in_flight(), 0);
    let _held = limit.acquire(Priority::Ordinary).unwrap();
    let refused = refuse().unwrap_err().into_response();
    assert_eq!(refused.status(), 503);
    assert_eq!(audit(&request, &refused), []);
}

/// H29, H22: the document lists the refusals of the routes that have limits.
#[test]
fn document_lists_the_refusals_of_limits() {
    let conventions = Host::new().conventions;
    let components = conventions.openapi_components();
    for (takes, status, name) in [
        (Takes::ConcurrencyLimit, "503", "ServiceUnavailable"),
        (Takes::CallerConcurrency, "429", "TooManyRequests"),
        (Takes::Deadline, "503", "ServiceUnavailable"),
        (Takes::GatewayDeadline, "504", "GatewayTimeout"),
    ] {
        let with = conventions.openapi_operation(&[takes]);
        let listed = with["responses"][status]["$ref"].as_str().unwrap();
        assert_eq!(listed, format!("#/components/responses/{name}"));
        assert!(components["responses"].get(name).is_some());
        let without = conventions.openapi_operation(&[]);
        assert!(without["responses"].get(status).is_none(), "{status}");
    }
}
