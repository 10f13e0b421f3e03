//! A service over the store, and futures that are dropped at a chosen poll.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::Poll,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response, StatusCode};
use http_conventions::{
    errors::{Problem, ProblemBase},
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, Idempotency, IdempotencyStore, KeyScope, RecordKey,
        RequestOutcome, Settled,
    },
    ports::StoreError,
};

pub(crate) const LEASE: Duration = Duration::from_secs(60);
/// More polls than any request needs.
pub(crate) const MOST_POLLS: u32 = 10_000;

/// A service that counts its charges.
pub(super) struct Service {
    idempotency: Idempotency,
    pub(super) clock: ManualClock,
    begun: AtomicU32,
    made: AtomicU32,
}

impl Service {
    pub(super) fn new(store: Arc<dyn IdempotencyStore>, after_crash: AfterCrash) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let store = Arc::new(Hesitant(store));
        let idempotency = Idempotency::new(store, Arc::new(clock.clone()), &SeededEntropy::new(7), problems)
            .with_lease(LEASE)
            .with_after_crash(after_crash);
        Self {
            idempotency,
            clock,
            begun: AtomicU32::new(0),
            made: AtomicU32::new(0),
        }
    }

    pub(super) async fn post(&self, key: u32) -> Seen {
        let request = Request::post("/v1/charges").header("idempotency-key", format!("key-{key:08}"));
        let request = request.body(Bytes::from_static(b"{\"amount\":1000}")).unwrap();
        let scope = KeyScope::new("user-7", "/v1/charges");
        let response = self.idempotency.run(&request, scope, self.charge()).await;
        Seen::of(&response.unwrap_or_else(Problem::into_response))
    }

    /// Yields once before and once after the effect.
    async fn charge(&self) -> Response<Bytes> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        hesitate().await;
        let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
        hesitate().await;
        let body = Bytes::from(format!("{{\"id\":\"ch_{number}\"}}"));
        Response::builder()
            .status(StatusCode::CREATED)
            .body(body)
            .unwrap()
    }

    /// Handlers that started and charges that were made since the last call.
    pub(super) fn counts(&self) -> (u32, u32) {
        let take = |count: &AtomicU32| count.swap(0, Ordering::SeqCst);
        (take(&self.begun), take(&self.made))
    }
}

/// The kind of response to a POST.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    Made,
    Replayed,
    InFlight,
    OutcomeUnknown,
    Other(StatusCode),
}

impl Seen {
    fn of(response: &Response<Bytes>) -> Self {
        let body = String::from_utf8_lossy(response.body());
        let is_replayed = response.headers().contains_key("idempotency-replayed");
        match (response.status(), is_replayed) {
            (StatusCode::CREATED, false) => Self::Made,
            (StatusCode::CREATED, true) => Self::Replayed,
            (StatusCode::CONFLICT, _) if body.contains("idempotency-in-flight") => Self::InFlight,
            (StatusCode::CONFLICT, _) if body.contains("idempotency-outcome-unknown") => Self::OutcomeUnknown,
            (status, _) => Self::Other(status),
        }
    }
}

/// A store whose calls can be dropped before and after they take effect.
pub(crate) struct Hesitant(pub(crate) Arc<dyn IdempotencyStore>);

#[async_trait]
impl IdempotencyStore for Hesitant {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        hesitate().await;
        let outcome = self.0.claim(claim, now).await;
        hesitate().await;
        outcome
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        hesitate().await;
        let settled = self.0.complete(key, fence, outcome, expires_at).await;
        hesitate().await;
        settled
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.0.release(key, fence).await
    }
}

/// Yields once.
pub(crate) async fn hesitate() {
    let mut is_over = false;
    poll_fn(|context| {
        if is_over {
            return Poll::Ready(());
        }
        is_over = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Output of the future; `None` if it needs more polls, and then it is dropped.
pub(crate) async fn within<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut polled = 0;
    poll_fn(|context| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}
