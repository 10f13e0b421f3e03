//! Calls of the store, and the responses to its results.

use std::{
    error::Error,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Response, StatusCode, header};
use webhook_core::{
    ports::{StoreError, StoreErrorKind},
    receiver::{BodyDigest, Claim, Dedupe, EventKey, Incoming, ReceiveOutcome, Receiver, Verifier},
};

use super::{DAY, Fixture, assert_problem, body, outcome};
use crate::ends::secret;

/// Store with a fixed result.
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
        Verifier::timestamp_body_hex(secret(1)),
        store,
        fixture.clock.clone(),
    );
    let receiver = builder
        .with_retry_after(Duration::from_millis(7_001))
        .build()
        .unwrap();
    async move { receiver.receive(fixture.request("evt_1", body("evt_1"))).await }
}

/// W8: if the queue is unreachable, the sender gets a 503 with `Retry-After`, and no event is
/// acknowledged.
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
        assert_eq!(outcome(&response), ReceiveOutcome::Unavailable(kind));
        assert!(!String::from_utf8_lossy(response.body()).contains("down"));
    }
}

/// W8: a store error is passed to the host's log, once, and is not in the response.
#[tokio::test]
async fn store_error_is_logged() {
    let (fixture, log) = (Fixture::new(), Arc::new(Mutex::new(Vec::new())));
    let store = Arc::new(Answering(
        || Err(StoreError::unavailable("the disk is full")),
        AtomicUsize::new(0),
    ));
    let verifier = Verifier::timestamp_body_hex(secret(1));
    let kept = Arc::clone(&log);
    let receiver = Receiver::builder("payments", verifier, store, fixture.clock.clone())
        .with_failure_log(move |error| {
            let cause = error.source().map(ToString::to_string);
            kept.lock().unwrap().push((error.kind(), cause));
        })
        .build()
        .unwrap();
    let response = receiver.receive(fixture.request("evt_1", body("evt_1"))).await;
    assert_problem(&response, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!format!("{:?}", response.body()).contains("disk"));
    let told = (StoreErrorKind::Unavailable, Some("the disk is full".to_owned()));
    assert_eq!(*log.lock().unwrap(), [told]);
    receiver.receive(fixture.request("evt_2", b"{".to_vec())).await;
    assert_eq!(log.lock().unwrap().len(), 1, "a refusal is no failure");
}

/// W7: a claimed event that is not queued yet is not acknowledged: the sender retries.
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
        ReceiveOutcome::Pending {
            retry_after: Duration::from_secs(30)
        }
    );
}

/// W7: the store is not called before the message is verified.
#[tokio::test]
async fn nothing_unverified_reaches_the_store() {
    let fixture = Fixture::new();
    let store = Arc::new(Answering(|| Ok(Claim::Enqueued), AtomicUsize::new(0)));
    let verifier = Verifier::timestamp_body_hex(secret(1));
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

/// W7: the store gets source, id, digest and the end of the memory.
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
        digest: BodyDigest::compute(&body),
        body: body.clone(),
        expires_at: fixture.now() + 2 * DAY,
    };
    let verifier = Verifier::timestamp_body_hex(secret(1));
    let builder = Receiver::builder("payments", verifier, Expecting(expected), fixture.clock.clone());
    let receiver = builder.with_memory(2 * DAY).build().unwrap();
    assert_eq!(
        outcome(&receiver.receive(fixture.request("evt_1", body)).await),
        ReceiveOutcome::Enqueued
    );
}
