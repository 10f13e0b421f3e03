//! Idempotency keys that the handler completes in its own transaction (H23).

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::testing::SeededEntropy;
use http::{Request, Response};
use http_conventions::{
    errors::{ErrorStatus, Problem, ReceivedProblem},
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, HeldKey, IdempotencyStore, MemoryIdempotencyStore, RecordKey,
        Reply, RequestOutcome, Settled,
    },
    pipeline::Conventions,
    ports::StoreError,
};

use crate::idempotency_fixture::{BODY, Fixture, LEASE, SCOPE, expect_problem, is_replayed, post};

/// A memory store that records the claims, and settles in the transactions of handlers.
#[derive(Default)]
struct Store {
    keys: MemoryIdempotencyStore,
    claims: Mutex<Vec<Claim>>,
}

#[async_trait]
impl IdempotencyStore for Store {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        self.claims.lock().unwrap().push(claim.clone());
        self.keys.claim(claim, now).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.keys.complete(key, fence, outcome, expires_at).await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.keys.release(key, fence).await
    }
}

struct Desk {
    fixture: Fixture,
    store: Arc<Store>,
}

impl Desk {
    fn new() -> Self {
        let store = Arc::new(Store::default());
        Self {
            fixture: Fixture::with_store(store.clone()),
            store,
        }
    }

    async fn run<F: Future<Output = Reply>>(
        &self,
        request: &Request<Bytes>,
        handler: impl FnOnce(Option<HeldKey>) -> F,
    ) -> Response<Bytes> {
        let idempotency = &self.fixture.idempotency;
        let response = idempotency.run_in_transaction(request, SCOPE, handler).await;
        response.unwrap_or_else(Problem::into_response)
    }

    /// Commits a charge and the settlement of its key.
    async fn charge(&self, held: Option<HeldKey>) -> Reply {
        self.commit(held, self.fixture.handle()).await
    }

    async fn commit(&self, held: Option<HeldKey>, response: Response<Bytes>) -> Reply {
        let Some(held) = held else {
            return Reply::completed(response, None);
        };
        let settlement = held.settlement(&response);
        let settled = self.store.keys.complete(
            &settlement.key,
            &settlement.fence,
            settlement.outcome.clone(),
            settlement.expires_at,
        );
        let receipt = settlement.receipt(settled.await.unwrap()).unwrap();
        Reply::completed(response, Some(receipt))
    }
}

fn refusal() -> Reply {
    Reply::Final(Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT).into_response())
}

fn nothing_happened() -> Reply {
    Reply::NothingHappened(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))
}

/// H23: the claim of a handler that completes its key itself need not reach the disk, and is taken
/// over after a crash, whatever the setting. Another claim is durable and obeys the setting.
#[tokio::test]
async fn only_claim_of_transaction_may_be_lost() {
    let desk = Desk::new();
    desk.fixture.send(&post("k-1", BODY)).await;
    desk.run(&post("k-2", BODY), |held| desk.charge(held)).await;
    let claims = desk.store.claims.lock().unwrap();
    let seen: Vec<_> = claims
        .iter()
        .map(|claim| (claim.is_durable, claim.after_crash))
        .collect();
    assert_eq!(seen, [(true, AfterCrash::Refuse), (false, AfterCrash::RunAgain)]);
}

/// H23: a handler slower than its lease may refuse because of what the retry has done. Its refusal
/// is not the response of the key: the client gets that of the retry.
#[tokio::test]
async fn late_refusal_gets_response_of_key() {
    for late in [refusal, nothing_happened] {
        let desk = Desk::new();
        let request = post("k-1", BODY);
        let slow = async |_| {
            desk.fixture.clock.advance(LEASE);
            let second = desk.run(&request, |held| desk.charge(held)).await;
            assert_eq!((second.status().as_u16(), is_replayed(&second)), (201, false));
            late()
        };
        let first = desk.run(&request, slow).await;
        assert_eq!((first.status().as_u16(), is_replayed(&first)), (201, true));
        assert_eq!(desk.fixture.runs(), 1);
    }
}

/// H23: the refusal of a late handler tells nothing while the retry is running.
#[tokio::test]
async fn late_refusal_waits_for_running_retry() {
    let desk = Desk::new();
    let request = post("k-1", BODY);
    let slow = async |_| {
        desk.fixture.clock.advance(LEASE);
        let dropped = desk.run(&request, async |_| std::future::pending().await);
        assert!(futures_util::FutureExt::now_or_never(dropped).is_none());
        refusal()
    };
    let first = desk.run(&request, slow).await;
    expect_problem(&first, 409, "idempotency-in-flight");

    // both leases have ended: the next request decides
    desk.fixture.clock.advance(LEASE);
    let made = desk.run(&request, |held| desk.charge(held)).await;
    assert_eq!((made.status().as_u16(), is_replayed(&made)), (201, false));
}

/// H23: a refusal that holds its key is stored, and replayed.
#[tokio::test]
async fn refusal_is_stored_afterwards() {
    let desk = Desk::new();
    let request = post("k-1", BODY);
    let first = desk.run(&request, async |_| refusal()).await;
    let again = desk.run(&request, |held| desk.charge(held)).await;
    assert_eq!((first.status().as_u16(), again.body()), (422, first.body()));
    assert!(is_replayed(&again));
}

/// H23: a receipt proves the settlement of its own key alone.
#[tokio::test]
async fn receipt_of_another_key_is_refused() {
    let desk = Desk::new();
    let other = async |_| {
        let mut kept = None;
        desk.run(&post("k-2", BODY), async |held| {
            kept = Some(desk.charge(held).await);
            nothing_happened()
        })
        .await;
        kept.unwrap()
    };
    let response = desk.run(&post("k-1", BODY), other).await;
    assert_eq!(response.status(), 500);
    let failures = desk.fixture.failures();
    assert!(
        failures.iter().any(|line| line.contains("receipt")),
        "{failures:?}"
    );
}

/// H23, H4: a problem that is committed with its rows is stored as the pipeline sends it, with the
/// id of the first request.
#[tokio::test]
async fn committed_problem_is_replayed_as_sent() {
    let desk = Desk::new();
    let builder = Conventions::builder(
        "https://api.example.com/problems/",
        Arc::new(desk.fixture.clock.clone()),
        Arc::new(SeededEntropy::new(8)),
    );
    let conventions = builder
        .with_idempotency(desk.fixture.idempotency.clone())
        .build()
        .unwrap();
    let with_type = Problem::new(ErrorStatus::CONFLICT).into_response();
    let mut empty = Response::new(Bytes::new());
    *empty.status_mut() = http::StatusCode::CONFLICT;
    for (key, refusal) in [("k-1", with_type), ("k-2", empty)] {
        let request = post(key, BODY);
        let send = async || {
            let exchange = conventions
                .begin(&request)
                .admit(&request)
                .unwrap()
                .skip_rate_limit();
            let refuse = |held| desk.commit(held, refusal.clone());
            exchange.run_in_transaction(&request, SCOPE, refuse).await
        };
        let (first, again) = (send().await, send().await);
        assert!(!is_replayed(&first) && is_replayed(&again));
        let problem = ReceivedProblem::parse(first.body()).unwrap();
        assert!(problem.extension("request_id").is_some(), "{first:?}");
        assert_eq!(first.body(), again.body());
    }
}
