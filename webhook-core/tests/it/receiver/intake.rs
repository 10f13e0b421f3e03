//! Events that are handled within their request.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::{HeaderName, Request, StatusCode, header};
use webhook_core::{
    memory::MemoryClaims,
    ports::{Clock, StoreError},
    receiver::{
        BeginOutcome, BodyDigest, Claims, EventKey, Incoming, Intake, ReceiveOutcome,
        providers::{GITHUB, SLACK},
    },
};

use super::outcome;

const SECRET: &str = "a secret of the test";
const LEASE: Duration = Duration::from_secs(30);

struct Ends {
    intake: Intake,
    clock: ManualClock,
}

impl Ends {
    fn new(claims: impl Claims + 'static) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let verifier = GITHUB.verifier([SECRET]).unwrap();
        let intake = Intake::builder("github", verifier, claims, clock.clone());
        let intake = intake.with_lease(LEASE).with_body_limit(64).build().unwrap();
        Self { intake, clock }
    }

    fn request(&self, body: &str) -> Request<Bytes> {
        let request = Request::post("/github").header("x-github-event", "push");
        let mut request = request.body(Bytes::from(body.to_owned())).unwrap();
        let signer = GITHUB.signer(SECRET).unwrap();
        signer.sign(&mut request, None, self.clock.now()).unwrap();
        request
    }

    /// Outcome of a request that does not reach the handler.
    async fn refused(&self, request: Request<Bytes>) -> (StatusCode, ReceiveOutcome, Option<String>) {
        let response = self.intake.accept(request).await.unwrap_err();
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after.map(|seconds| seconds.to_str().unwrap().to_owned());
        (response.status(), outcome(&response), retry_after)
    }
}

/// W7: a finished event does not reach the handler again.
#[tokio::test]
async fn finished_event_is_handled_once() {
    let ends = Ends::new(MemoryClaims::default());
    let event = ends.intake.accept(ends.request(r#"{"a":1}"#)).await.unwrap();
    assert!(event.id().as_str().starts_with("sha256:"));
    assert_eq!(event.json::<serde_json::Value>().unwrap()["a"], 1);
    let kind = HeaderName::from_static("x-github-event");
    assert_eq!(event.unsigned_header(&kind), Some("push"));
    let response = event.finish().await;
    assert_eq!(
        (response.status(), outcome(&response)),
        (StatusCode::OK, ReceiveOutcome::Handled)
    );
    let again = ends.refused(ends.request(r#"{"a":1}"#)).await;
    assert_eq!(again, (StatusCode::OK, ReceiveOutcome::Duplicate, None));
    ends.clock.advance(LEASE);
    let later = ends.refused(ends.request(r#"{"a":1}"#)).await;
    assert_eq!(later.1, ReceiveOutcome::Duplicate);
    let other = ends.intake.accept(ends.request(r#"{"a":2}"#)).await;
    assert!(other.is_ok());
}

/// W7: an event whose handler failed is pending until its lease ends, and is then handled again.
#[tokio::test]
async fn unfinished_event_is_handled_again_after_its_lease() {
    let ends = Ends::new(MemoryClaims::default());
    drop(ends.intake.accept(ends.request("{}")).await.unwrap());
    let (status, outcome, retry_after) = ends.refused(ends.request("{}")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(outcome, ReceiveOutcome::Pending { retry_after: LEASE });
    assert_eq!(retry_after.as_deref(), Some("30"));
    ends.clock.advance(LEASE);
    let event = ends.intake.accept(ends.request("{}")).await.unwrap();
    assert_eq!(event.finish().await.status(), StatusCode::OK);
}

/// W7, W19: forged requests, other methods, large bodies and handshakes do not reach the handler.
#[tokio::test]
async fn other_requests_do_not_reach_the_handler() {
    let ends = Ends::new(MemoryClaims::default());
    let mut forged = ends.request("{}");
    *forged.body_mut() = "{ }".into();
    assert_eq!(ends.refused(forged).await.0, StatusCode::BAD_REQUEST);
    let get = Request::get("/github").body(Bytes::new()).unwrap();
    assert_eq!(ends.refused(get).await.1, ReceiveOutcome::MethodNotAllowed);
    let large = ends.request(&"x".repeat(65));
    assert_eq!(ends.refused(large).await.1, ReceiveOutcome::TooLarge);
    assert_eq!(ends.intake.body_limit(), 64);
    assert_eq!(ends.intake.too_large().status(), StatusCode::PAYLOAD_TOO_LARGE);

    let verifier = SLACK.verifier([SECRET]).unwrap();
    let slack = Intake::builder("slack", verifier, MemoryClaims::default(), ends.clock.clone());
    let mut request = Request::post("/")
        .body(Bytes::from(r#"{"type":"url_verification","challenge":"c"}"#))
        .unwrap();
    SLACK
        .signer(SECRET)
        .unwrap()
        .sign(&mut request, None, ends.clock.now())
        .unwrap();
    let response = slack.build().unwrap().accept(request).await.unwrap_err();
    assert_eq!(
        (response.status(), &response.body()[..]),
        (StatusCode::OK, b"c".as_slice())
    );
}

/// Claims whose store fails at one of the two steps.
struct Failing {
    at_begin: bool,
}

#[async_trait]
impl Claims for Failing {
    async fn begin(&self, _: &Incoming, _: SystemTime, _: Duration) -> Result<BeginOutcome, StoreError> {
        match self.at_begin {
            true => Err(StoreError::unavailable("down")),
            false => Ok(BeginOutcome::Claimed),
        }
    }

    async fn complete(&self, _: &EventKey, _: &BodyDigest) -> Result<(), StoreError> {
        Err(StoreError::unavailable("down"))
    }
}

/// W7: if the store fails before or after the work, the sender is asked to retry.
#[tokio::test]
async fn failed_store_asks_the_sender_to_retry() {
    let ends = Ends::new(Failing { at_begin: true });
    let (status, _, retry_after) = ends.refused(ends.request("{}")).await;
    assert_eq!(
        (status, retry_after.as_deref()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("5"))
    );
    let ends = Ends::new(Arc::new(Failing { at_begin: false }));
    let event = ends.intake.accept(ends.request("{}")).await.unwrap();
    assert_eq!(event.finish().await.status(), StatusCode::SERVICE_UNAVAILABLE);
}
