//! Queued events and duplicates.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use webhook_core::receiver::{ReceiveOutcome, VerifyFailure};

use super::{DAY, Fixture, assert_problem, body, outcome};

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
    assert_eq!(outcome(&response), ReceiveOutcome::Enqueued);
    let [job] = &fixture.queued().await[..] else {
        panic!("one event is queued")
    };
    assert_eq!(
        (job.body.as_ref(), job.ticket.key.source.as_str()),
        (body("evt_1").as_bytes(), "payments")
    );
}

/// W7: a duplicate is acknowledged and not queued again, with any signature time, for 72 hours from
/// the first delivery.
#[tokio::test]
async fn a_repetition_is_acknowledged_and_queued_once() {
    let fixture = Fixture::new();
    fixture.deliver("evt_1").await;
    let first = fixture.now();
    for after in [Duration::ZERO, DAY, 3 * DAY - Duration::from_secs(1)] {
        fixture.clock.set(first + after);
        let response = fixture.deliver("evt_1").await;
        assert_eq!(
            (response.status(), outcome(&response)),
            (StatusCode::NO_CONTENT, ReceiveOutcome::Duplicate)
        );
    }
    assert_eq!(fixture.queued().await.len(), 1);
    fixture.clock.set(first + 3 * DAY);
    assert_eq!(outcome(&fixture.deliver("evt_1").await), ReceiveOutcome::Enqueued);
}

/// W7: of 32 concurrent deliveries of one event exactly one is queued.
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
            ReceiveOutcome::Enqueued => enqueued += 1,
            other => assert_eq!(other, ReceiveOutcome::Duplicate),
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
    assert_eq!(outcome(&response), ReceiveOutcome::Conflict);
    assert_eq!(fixture.queued().await.len(), 1);
}

/// W7: with a scheme that does not sign the id, a changed header does not make a new event.
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
    assert_eq!(
        outcome(&response),
        ReceiveOutcome::Rejected(VerifyFailure::IdMismatch)
    );
    assert_eq!(fixture.queued().await.len(), 1);
}
