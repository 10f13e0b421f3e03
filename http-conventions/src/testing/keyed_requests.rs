//! What a keyed POST must do over every [`IdempotencyStore`], as test cases: one run of 32 at once, and one at most when the first
//! is dropped anywhere between its claim and its answer.
//!
//! ```
//! mod posts {
//!     use std::sync::Arc;
//!
//!     use http_conventions::idempotency::MemoryIdempotencyStore;
//!
//!     http_conventions::testing::keyed_requests!(#[tokio::test] Arc::new(MemoryIdempotencyStore::default()));
//! }
//! ```
//!
//! The expression makes a fresh store for each test, inside an `async fn`. Races run on threads of their own and block the
//! calling one: a store that needs the runtime's help to answer wants a multi-threaded runtime.

#![expect(
    clippy::unwrap_used,
    reason = "a conformance test fails by panicking, in the host's own tests"
)]

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
use http::{Request, Response, StatusCode};

use super::{
    ManualClock, SeededEntropy,
    race::{RACERS, race},
};
use crate::{
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, Idempotency, IdempotencyStore, Outcome, RecordKey, Scope,
        Settled,
    },
    ports::StoreError,
    problem::{Problem, ProblemBase},
};

const LEASE: Duration = Duration::from_secs(60);
/// Far more than any request is polled.
const MOST_POLLS: u32 = 10_000;

/// One named test for each case, for the store that the expression makes.
#[doc(hidden)]
#[macro_export]
macro_rules! __keyed_requests {
    ($(#[$test:meta])+ $store:expr) => {
        $crate::__keyed_requests! { @cases [$(#[$test])+] $store =>
            of_thirty_two_equal_posts_one_runs
            a_first_post_that_is_dropped_anywhere_runs_at_most_once
            a_first_post_that_is_dropped_anywhere_is_run_again_where_the_host_says_so
        }
    };
    (@cases $tests:tt $store:expr => $($case:ident)+) => {
        $($crate::__keyed_requests! { @case $tests $store => $case })+
    };
    (@case [$($test:tt)+] $store:expr => $case:ident) => {
        $($test)+
        async fn $case() {
            let store = $store;
            $crate::testing::keyed_requests::$case(store).await;
        }
    };
}

/// A service that counts its charges.
struct Service {
    idempotency: Idempotency,
    clock: ManualClock,
    begun: AtomicU32,
    made: AtomicU32,
}

impl Service {
    fn new(store: Arc<dyn IdempotencyStore>, after_crash: AfterCrash) -> Self {
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

    async fn post(&self, key: u32) -> Answer {
        let request = Request::post("/v1/charges").header("idempotency-key", format!("key-{key:08}"));
        let request = request.body(Bytes::from_static(b"{\"amount\":1000}")).unwrap();
        let scope = Scope::new("user-7", "/v1/charges");
        let answer = self.idempotency.run(&request, scope, self.charge()).await;
        Answer::of(&answer.unwrap_or_else(Problem::into_response))
    }

    /// Takes its time before and after the effect.
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

    /// How many handlers have begun, and how many charges were made, since it was last asked.
    fn counts(&self) -> (u32, u32) {
        let take = |count: &AtomicU32| count.swap(0, Ordering::SeqCst);
        (take(&self.begun), take(&self.made))
    }
}

/// What came back of a POST.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Answer {
    Made,
    Replayed,
    InFlight,
    OutcomeUnknown,
    Other(StatusCode),
}

impl Answer {
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

/// A store whose every verb can be dropped before it has begun and after it is done.
struct Hesitant(Arc<dyn IdempotencyStore>);

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
        outcome: Outcome,
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

/// Is pending once.
async fn hesitate() {
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

/// The output, unless it takes more than so many polls: then the future is dropped where it stands.
async fn within<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
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

/// H6, X5: of 32 equal requests at once one runs; the others wait for it or get its answer, as does whoever comes later.
pub async fn of_thirty_two_equal_posts_one_runs(store: Arc<dyn IdempotencyStore>) {
    let service = Service::new(store, AfterCrash::Refuse);
    let answers = race(|_| service.post(0));
    assert_eq!(service.counts(), (1, 1), "{answers:?}");
    let count = |wanted| answers.iter().filter(|answer| **answer == wanted).count();
    assert_eq!(count(Answer::Made), 1, "{answers:?}");
    let others = count(Answer::InFlight) + count(Answer::Replayed);
    assert_eq!(others, usize::from(RACERS) - 1, "{answers:?}");
    assert_eq!(service.post(0).await, Answer::Replayed);
    assert_eq!(service.counts(), (0, 0));
}

/// H6: wherever a first request is dropped, it runs once at most; and from the end of its lease on whoever repeats it is told what
/// became of it, or that nobody knows.
pub async fn a_first_post_that_is_dropped_anywhere_runs_at_most_once(store: Arc<dyn IdempotencyStore>) {
    let service = Service::new(store, AfterCrash::Refuse);
    for polls in 0.. {
        assert!(polls < MOST_POLLS, "a request comes to an end");
        let first = within(polls, service.post(polls)).await;
        let second = service.post(polls).await;
        service.clock.advance(LEASE);
        let third = service.post(polls).await;
        let (begun, made) = service.counts();
        assert!(
            begun <= 1 && made <= begun,
            "dropped after {polls}: {begun} runs, {made} charges"
        );
        let told = matches!(third, Answer::Replayed | Answer::OutcomeUnknown);
        assert!(told, "dropped after {polls}: {second:?}, then {third:?}");
        if third == Answer::Replayed {
            assert_eq!(made, 1, "dropped after {polls}");
        }
        if first.is_some() {
            assert_eq!((first, second, made), (Some(Answer::Made), Answer::Replayed, 1));
            assert!(
                polls > 6,
                "a claim, a handler and a completion wait more often than {polls} times"
            );
            return;
        }
    }
}

/// H6: where the host says so, whoever repeats it after its lease runs it again, and the answer then stays.
pub async fn a_first_post_that_is_dropped_anywhere_is_run_again_where_the_host_says_so(
    store: Arc<dyn IdempotencyStore>,
) {
    let service = Service::new(store, AfterCrash::RunAgain);
    for polls in 0.. {
        assert!(polls < MOST_POLLS, "a request comes to an end");
        let first = within(polls, service.post(polls)).await;
        service.clock.advance(LEASE);
        let second = service.post(polls).await;
        let third = service.post(polls).await;
        let (begun, _) = service.counts();
        assert!(begun <= 2, "dropped after {polls}: {begun} runs");
        assert!(
            matches!(second, Answer::Made | Answer::Replayed),
            "dropped after {polls}: {second:?}"
        );
        assert_eq!(third, Answer::Replayed, "dropped after {polls}");
        if first.is_some() {
            return;
        }
    }
}
