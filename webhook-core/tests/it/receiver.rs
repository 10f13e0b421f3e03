//! The endpoint a sender posts to.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use proptest::prelude::*;
use webhook_core::{
    memory::MemoryInbox,
    ports::{StoreError, StoreErrorKind},
    receiver::{
        BodyDigest, Claim, Dedupe, EventKey, Inbox, Incoming, Mistake, Outcome, Queued, Receiver,
        ReceiverBuilder, Verifier, VerifyFailure,
    },
    secret::SigningSecret,
    signature::{Signer, Signers},
    testing::ManualClock,
};

const DAY: Duration = Duration::from_hours(24);

fn secret() -> SigningSecret {
    SigningSecret::from_bytes(&[1; 32]).unwrap()
}

fn body(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"charge.created","created":1700000000,"data":{{"object":{{}}}}}}"#)
}

struct Fixture {
    clock: ManualClock,
    inbox: Arc<MemoryInbox>,
    signers: Signers,
    receiver: Receiver,
}

impl Fixture {
    fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// The form that the service shows: `timestamp.body` in hexadecimal.
    fn with(configure: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let inbox = Arc::new(MemoryInbox::default());
        let verifier = Verifier::timestamp_body_hex(secret());
        let builder = Receiver::builder("payments", verifier, inbox.clone(), clock.clone());
        let receiver = configure(builder).build().unwrap();
        Self {
            clock,
            inbox,
            signers: Signer::timestamp_body_hex(&secret()).into(),
            receiver,
        }
    }

    fn now(&self) -> SystemTime {
        webhook_core::ports::Clock::now(&self.clock)
    }

    /// A rightly signed delivery.
    fn request(&self, id: &str, body: impl Into<Bytes>) -> Request<Bytes> {
        let mut request = Request::post("/webhooks")
            .header("content-type", "application/json")
            .body(body.into())
            .unwrap();
        self.signers
            .sign(&id.parse().unwrap(), self.now(), request.body())
            .insert_into(request.headers_mut());
        request
    }

    async fn deliver(&self, id: &str) -> Response<Bytes> {
        self.receiver.receive(self.request(id, body(id))).await
    }

    async fn queued(&self) -> Vec<Queued> {
        self.inbox
            .take(100, self.now(), Duration::from_secs(60))
            .await
            .unwrap()
    }
}

fn outcome(response: &Response<Bytes>) -> Outcome {
    *response.extensions().get().unwrap()
}

/// Checks what every refusal has in common.
fn assert_problem(response: &Response<Bytes>, status: StatusCode) {
    assert_eq!(response.status(), status);
    assert_eq!(
        response.headers()[header::CONTENT_TYPE],
        "application/problem+json"
    );
    let problem: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(problem["status"], status.as_u16());
    assert!(problem["title"].is_string());
}

/// W8: an event is verified, queued with its exact bytes, and answered with an empty 2xx.
#[tokio::test]
async fn a_verified_event_is_queued_and_answered_at_once() {
    let fixture = Fixture::new();
    let response = fixture.deliver("evt_1").await;
    assert_eq!(
        (response.status(), response.body().len()),
        (StatusCode::NO_CONTENT, 0)
    );
    assert!(!response.headers().contains_key(header::CONTENT_TYPE));
    assert_eq!(outcome(&response), Outcome::Enqueued);
    let [job] = &fixture.queued().await[..] else {
        panic!("one event is queued")
    };
    assert_eq!(
        (job.body.as_ref(), job.ticket.key.source.as_str()),
        (body("evt_1").as_bytes(), "payments")
    );
}

/// W7: a repetition is acknowledged and not queued again, however often it comes and whenever it was signed.
#[tokio::test]
async fn a_repetition_is_acknowledged_and_queued_once() {
    let fixture = Fixture::new();
    fixture.deliver("evt_1").await;
    for _ in 0..3 {
        fixture.clock.advance(DAY);
        let response = fixture.deliver("evt_1").await;
        if fixture.now() < SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) + 3 * DAY {
            assert_eq!(
                (response.status(), outcome(&response)),
                (StatusCode::NO_CONTENT, Outcome::Duplicate)
            );
            assert!(fixture.queued().await.len() <= 1);
        } else {
            assert_eq!(outcome(&response), Outcome::Enqueued, "the memory is 72 hours");
        }
    }
}

/// W7: of 32 deliveries of one event at the same time exactly one is queued.
#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_deliveries_queue_the_event_once() {
    let fixture = Fixture::new();
    let deliveries = (0..32).map(|_| {
        let (receiver, request) = (fixture.receiver.clone(), fixture.request("evt_1", body("evt_1")));
        tokio::spawn(async move { outcome(&receiver.receive(request).await) })
    });
    let mut enqueued = 0;
    for delivery in deliveries.collect::<Vec<_>>() {
        match delivery.await.unwrap() {
            Outcome::Enqueued => enqueued += 1,
            other => assert_eq!(other, Outcome::Duplicate),
        }
    }
    assert_eq!((enqueued, fixture.queued().await.len()), (1, 1));
}

/// W7: another body under a known id is a conflict that the sender sees, and the first event stays.
#[tokio::test]
async fn another_body_under_a_known_id_is_a_conflict() {
    let fixture = Fixture::new();
    fixture.deliver("evt_1").await;
    let response = fixture
        .receiver
        .receive(fixture.request("evt_1", body("evt_1") + " "))
        .await;
    assert_problem(&response, StatusCode::CONFLICT);
    assert_eq!(outcome(&response), Outcome::Conflict);
    assert_eq!(fixture.queued().await.len(), 1);
}

/// W7: in the form that leaves the id out of the signature, a changed header does not make a new event.
#[tokio::test]
async fn a_swapped_id_in_the_header_is_refused() {
    let fixture = Fixture::new();
    let mut request = fixture.request("evt_1", body("evt_1"));
    fixture.receiver.receive(request.clone()).await;
    request
        .headers_mut()
        .insert("webhook-id", HeaderValue::from_static("evt_2"));
    let response = fixture.receiver.receive(request).await;
    assert_problem(&response, StatusCode::BAD_REQUEST);
    assert_eq!(outcome(&response), Outcome::Rejected(VerifyFailure::IdMismatch));
    assert_eq!(fixture.queued().await.len(), 1);
}

/// W5: a wrong signature, a stale and a future time, and missing headers are one and the same 400.
#[tokio::test]
async fn everything_that_does_not_verify_is_the_same_400() {
    let fixture = Fixture::new();
    let good = fixture.request("evt_1", body("evt_1"));
    let mut changed = good.clone();
    *changed.body_mut() = Bytes::from(body("evt_1") + "\n");
    let mut unsigned = good.clone();
    unsigned.headers_mut().remove("webhook-signature");
    let mut answers = vec![
        fixture.receiver.receive(changed).await,
        fixture.receiver.receive(unsigned).await,
    ];
    fixture.clock.advance(Duration::from_secs(301));
    answers.push(fixture.receiver.receive(good.clone()).await);
    fixture.clock.set(fixture.now() - Duration::from_secs(602));
    answers.push(fixture.receiver.receive(good.clone()).await);
    let reasons = [
        VerifyFailure::Mismatch,
        VerifyFailure::MissingHeader,
        VerifyFailure::TooOld,
        VerifyFailure::TooNew,
    ];
    for (answer, reason) in answers.iter().zip(reasons) {
        assert_problem(answer, StatusCode::BAD_REQUEST);
        assert_eq!(outcome(answer), Outcome::Rejected(reason));
        assert_eq!(
            (answer.headers(), answer.body()),
            (answers[0].headers(), answers[0].body())
        );
    }
    assert_eq!(fixture.queued().await, []);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(
        fixture.receiver.receive(good).await.status(),
        StatusCode::NO_CONTENT
    );
}

/// W8: other methods than POST are refused with the one that is allowed.
#[tokio::test]
async fn other_methods_are_not_allowed() {
    let fixture = Fixture::new();
    for method in [
        Method::GET,
        Method::HEAD,
        Method::PUT,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        Method::from_bytes(b"post").unwrap(),
    ] {
        let mut request = fixture.request("evt_1", body("evt_1"));
        *request.method_mut() = method;
        let response = fixture.receiver.receive(request).await;
        assert_problem(&response, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()[header::ALLOW], "POST");
    }
    assert_eq!(fixture.queued().await, []);
}

/// W8: a body of one mebibyte is read, one byte more is refused before anything is verified.
#[tokio::test]
async fn a_body_over_the_limit_is_too_large() {
    let fixture = Fixture::new();
    let sized = |size: usize| {
        let envelope = body("evt_1");
        let padding = " ".repeat(size - envelope.len());
        fixture.request("evt_1", envelope + &padding)
    };
    let response = fixture.receiver.receive(sized(1024 * 1024 + 1)).await;
    assert_problem(&response, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        fixture.receiver.receive(sized(1024 * 1024)).await.status(),
        StatusCode::NO_CONTENT
    );

    let small = Fixture::with(|builder| builder.with_body_limit(10));
    assert_eq!(
        small.deliver("evt_1").await.status(),
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

/// W2: where JSON is required, another content type, none or two are refused.
#[tokio::test]
async fn where_json_is_required_another_content_type_is_refused() {
    let fixture = Fixture::with(ReceiverBuilder::require_json);
    for (types, accepted) in [
        (&["application/json"][..], true),
        (&["Application/JSON; charset=utf-8"], true),
        (&["application/cloudevents+json"], true),
        (&["text/plain"], false),
        (&["application/jsonp"], false),
        (&["text/x+json"], false),
        (&[""], false),
        (&[], false),
        (&["application/json", "text/plain"], false),
    ] {
        let mut request = fixture.request("evt_1", body("evt_1"));
        request.headers_mut().remove(header::CONTENT_TYPE);
        for value in types {
            request
                .headers_mut()
                .append(header::CONTENT_TYPE, value.parse().unwrap());
        }
        let response = fixture.receiver.receive(request).await;
        if accepted {
            assert_eq!(response.status(), StatusCode::NO_CONTENT, "{types:?}");
        } else {
            assert_problem(&response, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
    }
}

/// A store that gives one answer.
struct Answering(fn() -> Result<Claim, StoreError>, AtomicUsize);

#[async_trait]
impl Dedupe for Answering {
    async fn claim_and_enqueue(&self, _: Incoming, _: SystemTime) -> Result<Claim, StoreError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        (self.0)()
    }
}

fn receive_with(answer: fn() -> Result<Claim, StoreError>) -> impl Future<Output = Response<Bytes>> {
    let fixture = Fixture::new();
    let store = Arc::new(Answering(answer, AtomicUsize::new(0)));
    let builder = Receiver::builder(
        "payments",
        Verifier::timestamp_body_hex(secret()),
        store,
        fixture.clock.clone(),
    );
    let receiver = builder
        .with_retry_after(Duration::from_millis(7_001))
        .build()
        .unwrap();
    async move { receiver.receive(fixture.request("evt_1", body("evt_1"))).await }
}

/// W8: when the queue is down, the sender is asked to come again, and nothing is acknowledged.
#[tokio::test]
async fn a_store_that_is_down_is_a_503_with_retry_after() {
    for (answer, kind) in [
        (
            (|| Err(StoreError::unavailable("down"))) as fn() -> _,
            StoreErrorKind::Unavailable,
        ),
        (|| Err(StoreError::corrupt("odd")), StoreErrorKind::Corrupt),
    ] {
        let response = receive_with(answer).await;
        assert_problem(&response, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "8");
        assert_eq!(outcome(&response), Outcome::Unavailable(kind));
        assert!(!String::from_utf8_lossy(response.body()).contains("down"));
    }
}

/// W7: an event that is claimed and not yet queued is not acknowledged: the sender comes again.
#[tokio::test]
async fn a_claimed_but_not_queued_event_is_a_503_with_retry_after() {
    let response = receive_with(|| {
        Ok(Claim::Pending {
            retry_after: Duration::from_secs(30),
        })
    })
    .await;
    assert_problem(&response, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[header::RETRY_AFTER], "30");
    assert_eq!(
        outcome(&response),
        Outcome::Pending {
            retry_after: Duration::from_secs(30)
        }
    );
}

/// W7: the store is not asked before the message is verified.
#[tokio::test]
async fn nothing_unverified_reaches_the_store() {
    let fixture = Fixture::new();
    let store = Arc::new(Answering(|| Ok(Claim::Enqueued), AtomicUsize::new(0)));
    let verifier = Verifier::timestamp_body_hex(secret());
    let receiver = Receiver::builder("payments", verifier, store.clone(), fixture.clock.clone())
        .build()
        .unwrap();
    let mut request = fixture.request("evt_1", body("evt_1"));
    *request.body_mut() = Bytes::from(body("evt_2"));
    receiver.receive(request).await;
    assert_eq!(store.1.load(Ordering::Relaxed), 0);
    receiver.receive(fixture.request("evt_1", body("evt_1"))).await;
    assert_eq!(store.1.load(Ordering::Relaxed), 1);
}

/// W7: what reaches the store is the source, the id, the digest and the end of the memory.
#[tokio::test]
async fn the_store_is_given_source_id_digest_and_expiry() {
    struct Expecting(Incoming);

    #[async_trait]
    impl Dedupe for Expecting {
        async fn claim_and_enqueue(&self, event: Incoming, _: SystemTime) -> Result<Claim, StoreError> {
            assert_eq!(event, self.0);
            Ok(Claim::Enqueued)
        }
    }

    let fixture = Fixture::new();
    let body = Bytes::from(body("evt_1"));
    let expected = Incoming {
        key: EventKey {
            source: "payments".to_owned(),
            id: "evt_1".parse().unwrap(),
        },
        digest: BodyDigest::of(&body),
        body: body.clone(),
        expires_at: fixture.now() + 2 * DAY,
    };
    let verifier = Verifier::timestamp_body_hex(secret());
    let builder = Receiver::builder(
        "payments",
        verifier,
        Arc::new(Expecting(expected)),
        fixture.clock.clone(),
    );
    let receiver = builder.with_memory(2 * DAY).build().unwrap();
    assert_eq!(
        outcome(&receiver.receive(fixture.request("evt_1", body)).await),
        Outcome::Enqueued
    );
}

/// W7: a memory below 24 hours, or below one and a half times the longest pause of the schedule, is a mistake.
#[test]
fn a_memory_that_is_too_short_is_a_config_error() {
    let mistakes = |configure: fn(ReceiverBuilder) -> ReceiverBuilder| {
        let verifier = Verifier::timestamp_body_hex(secret());
        let builder = Receiver::builder(
            "payments",
            verifier,
            Arc::new(MemoryInbox::default()),
            SystemTime::now,
        );
        configure(builder)
            .build()
            .err()
            .map(|error| error.mistakes().to_vec())
            .unwrap_or_default()
    };
    assert_eq!(mistakes(|builder| builder), []);
    assert_eq!(mistakes(|builder| builder.with_memory(DAY)), []);
    assert_eq!(
        mistakes(|builder| builder.with_memory(DAY - Duration::from_nanos(1))),
        [Mistake::MemoryBelowOneDay]
    );
    assert_eq!(mistakes(|builder| builder.with_longest_retry_gap(2 * DAY)), []);
    assert_eq!(
        mistakes(|builder| builder.with_memory(DAY).with_longest_retry_gap(DAY)),
        [Mistake::MemoryBelowRetryGap]
    );
    assert_eq!(
        mistakes(|builder| builder.with_memory(Duration::MAX)),
        [Mistake::MemoryAboveOneYear]
    );
    assert_eq!(
        mistakes(|builder| builder.with_longest_retry_gap(Duration::MAX)),
        [Mistake::MemoryBelowRetryGap]
    );
}

#[test]
fn every_mistake_in_the_settings_is_reported_at_once() {
    for source in ["", "a b", "é", &"s".repeat(129)] {
        let verifier = Verifier::timestamp_body_hex(secret());
        let builder = Receiver::builder(
            source,
            verifier,
            Arc::new(MemoryInbox::default()),
            SystemTime::now,
        );
        let error = builder
            .with_memory(Duration::ZERO)
            .with_body_limit(0)
            .build()
            .unwrap_err();
        assert_eq!(
            error.mistakes(),
            [
                Mistake::InvalidSource,
                Mistake::MemoryBelowOneDay,
                Mistake::NoBodyAllowed
            ]
        );
        assert!(error.to_string().contains("; "));
    }
}

/// W6: a receiver shared by threads and copied is one.
#[test]
fn the_ends_are_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<Receiver>();
    shared::<Verifier>();
    shared::<Signers>();
}

proptest! {
    /// W8: no request makes the receiver panic, or answer 500.
    #[test]
    fn no_request_makes_the_receiver_panic(method in "[A-Z]{1,8}", names in prop::collection::vec(("(webhook-(id|timestamp|signature)|content-type)", any::<Vec<u8>>()), 0..8), body: Vec<u8>) {
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        for (name, value) in names {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(header::HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let response = runtime.block_on(Fixture::new().receiver.receive(request));
        prop_assert!(response.status().is_client_error());
    }
}
