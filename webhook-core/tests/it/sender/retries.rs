//! Retries by response.

use std::time::Duration;

use http::StatusCode;
use webhook_core::{
    ports::TransportError,
    sender::{
        Classification, DeliveryFilter, DeliveryPolicy, DeliveryState, Disposition, EndpointState,
        EndpointStore, FailureReason, Outbox, ReplayRequest, Schedule,
    },
};

use super::fixture::{ExchangeResult, Fixture, answer, asking, delivery_id, endpoint, start};

const MINUTE: Duration = Duration::from_secs(60);

/// W13: seven attempts, then a dead letter; after a replay the same event is delivered.
#[tokio::test]
async fn seventh_failure_is_dead_letter_that_replay_delivers() {
    let failures: [ExchangeResult; 7] = [
        answer(StatusCode::INTERNAL_SERVER_ERROR),
        Err(TransportError::timeout()),
        Err(TransportError::connect("refused")),
        answer(StatusCode::FOUND),
        answer(StatusCode::REQUEST_TIMEOUT),
        answer(StatusCode::TOO_EARLY),
        answer(StatusCode::SERVICE_UNAVAILABLE),
    ];
    let fixture = Fixture::scripted(failures).with_endpoints(&["ep_1"]).await;
    let id = delivery_id("evt_1", "ep_1");
    fixture.send("evt_1").await;
    let mut report = fixture.run().await;
    for attempts in 1..7 {
        let delivery = fixture.load(&id).await;
        assert_eq!(
            (delivery.state, delivery.attempts),
            (DeliveryState::RetryScheduled, attempts)
        );
        report = fixture.run_at(report.next_due).await;
    }
    assert_eq!(report.next_due, None);
    let dead = fixture.load(&id).await;
    assert_eq!((dead.state, dead.attempts), (DeliveryState::DeadLetter, 7));
    assert_eq!(dead.reason, Some(FailureReason::AttemptsExhausted));

    fixture.clock.advance(30 * 24 * 60 * MINUTE);
    fixture.transport.push(answer(StatusCode::NO_CONTENT));
    let request = ReplayRequest {
        filter: DeliveryFilter::dead_letters(),
        acknowledged: false,
        after: None,
        limit: usize::MAX,
        now: fixture.now(),
        dry_run: false,
    };
    assert_eq!(fixture.outbox.replay(&request).await.unwrap().count, 1);
    fixture.run().await;
    assert_eq!(fixture.load(&id).await.state, DeliveryState::Acked);
    let requests = fixture.transport.requests();
    assert_eq!(requests.len(), 8);
    assert!(
        requests
            .iter()
            .all(|request| request.headers()["webhook-id"] == "evt_1")
    );
    assert!(
        requests
            .iter()
            .all(|request| request.body() == requests[0].body())
    );
}

/// W14: each retry waits for the gap of the schedule ± 50 %, and no delivery is sent before.
#[tokio::test]
async fn each_retry_waits_for_the_schedule_give_or_take_half() {
    let failures = (0..7).map(|_| answer(StatusCode::BAD_GATEWAY));
    let fixture = Fixture::scripted(failures).with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let mut report = fixture.run().await;
    for minutes in [1, 10, 60, 360, 720, 1_440] {
        let due_at = report.next_due.unwrap();
        let wait = due_at.duration_since(fixture.now()).unwrap();
        assert!(
            wait >= minutes * MINUTE / 2 && wait < minutes * MINUTE * 3 / 2,
            "{wait:?} for {minutes} minutes"
        );
        fixture.clock.set(due_at - Duration::from_nanos(1));
        assert!(fixture.run().await.handled.is_empty());
        report = fixture.run_at(Some(due_at)).await;
        assert_eq!(report.handled.len(), 1);
    }
}

/// W14: jitter never shortens `Retry-After`.
#[tokio::test]
async fn a_retry_is_never_earlier_than_the_receiver_asked() {
    for retry_after in ["7200", "Wed, 15 Nov 2023 00:13:20 GMT"] {
        let fixture = Fixture::scripted([asking(StatusCode::INTERNAL_SERVER_ERROR, retry_after)]);
        let fixture = fixture.with_endpoints(&["ep_1"]).await;
        fixture.send("evt_1").await;
        assert_eq!(
            fixture.run().await.next_due,
            Some(start() + 120 * MINUTE),
            "{retry_after}"
        );
    }
}

/// W11: 429 holds every delivery of the endpoint, counts no attempt, and does not affect others.
#[tokio::test]
async fn a_429_holds_the_whole_endpoint_without_spending_an_attempt() {
    let fixture = Fixture::scripted([asking(StatusCode::TOO_MANY_REQUESTS, "600")]);
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    let held = Disposition::Held {
        due_at: start() + 10 * MINUTE,
    };
    assert_eq!(report.handled[0].disposition, held);
    assert_eq!(fixture.load(&delivery_id("evt_1", "ep_1")).await.attempts, 0);

    let fixture = fixture.with_endpoints(&["ep_2"]).await;
    fixture.send("evt_2").await;
    fixture.transport.push(answer(StatusCode::OK));
    let report = fixture.run().await;
    let delivered: Vec<_> = report.handled.iter().map(|handled| &handled.delivery).collect();
    assert_eq!(delivered, [&delivery_id("evt_2", "ep_2")]);
    assert_eq!(report.next_due, Some(start() + 10 * MINUTE));

    fixture.transport.push(answer(StatusCode::OK));
    fixture.transport.push(answer(StatusCode::OK));
    assert_eq!(fixture.run_at(report.next_due).await.handled.len(), 2);
    assert_eq!(fixture.load(&delivery_id("evt_1", "ep_1")).await.attempts, 1);
}

/// W11: an endpoint that throttles for days uses no attempts, but the lifetime ends.
#[tokio::test]
async fn endless_throttling_ends_with_the_lifetime() {
    let script = (0..100).map(|_| asking(StatusCode::TOO_MANY_REQUESTS, "3600"));
    let fixture = Fixture::scripted(script).with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let mut report = fixture.run().await;
    while report.next_due.is_some() {
        report = fixture.run_at(report.next_due).await;
    }
    let dead = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!((dead.state, dead.attempts), (DeliveryState::DeadLetter, 0));
    assert_eq!(dead.reason, Some(FailureReason::LifetimeExpired));
    assert_eq!(fixture.transport.requests().len(), 72);
}

/// W11: 410 ends the delivery, disables the endpoint, and the next event is not sent there.
#[tokio::test]
async fn a_410_disables_the_endpoint() {
    let fixture = Fixture::scripted([answer(StatusCode::GONE)])
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    assert!(report.handled[0].endpoint_disabled);
    assert_eq!(
        report.handled[0].disposition,
        Disposition::Failed(FailureReason::EndpointGone)
    );
    let endpoint = fixture
        .endpoints
        .load(&"ep_1".parse().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(endpoint.state, EndpointState::Disabled);
    fixture.send("evt_2").await;
    assert!(fixture.run().await.handled.is_empty());
}

/// W11: a permanent failure is final, and kept like a dead letter.
#[tokio::test]
async fn other_4xx_are_not_retried_but_can_be_replayed() {
    for status in [400, 401, 403, 404, 409, 413, 422, 451] {
        let status = StatusCode::from_u16(status).unwrap();
        let fixture = Fixture::scripted([answer(status), answer(StatusCode::OK)]);
        let fixture = fixture.with_endpoints(&["ep_1"]).await;
        fixture.send("evt_1").await;
        assert_eq!(fixture.run().await.next_due, None, "{status}");
        let failed = fixture.load(&delivery_id("evt_1", "ep_1")).await;
        assert_eq!(
            (failed.state, failed.reason),
            (DeliveryState::PermanentFailure, Some(FailureReason::Rejected))
        );
        let request = ReplayRequest {
            filter: DeliveryFilter::failed(),
            acknowledged: false,
            after: None,
            limit: usize::MAX,
            now: fixture.now(),
            dry_run: false,
        };
        assert_eq!(fixture.outbox.replay(&request).await.unwrap().count, 1);
        fixture.run().await;
        assert_eq!(fixture.load(&failed.id).await.state, DeliveryState::Acked);
    }
}

/// W33: an endpoint with the classification `patient` is retried after 401, 403 and 404.
#[tokio::test]
async fn patient_endpoint_is_retried() {
    for (status, expected) in [
        (401, DeliveryState::RetryScheduled),
        (403, DeliveryState::RetryScheduled),
        (404, DeliveryState::RetryScheduled),
        (400, DeliveryState::PermanentFailure),
        (410, DeliveryState::PermanentFailure),
    ] {
        let fixture = Fixture::scripted([answer(StatusCode::from_u16(status).unwrap())]);
        let patient = endpoint("ep_1").with_classification(Classification::Patient);
        fixture.endpoints.insert(patient).await.unwrap();
        fixture.send("evt_1").await;
        fixture.run().await;
        let row = fixture.load(&delivery_id("evt_1", "ep_1")).await;
        assert_eq!(row.state, expected, "{status}");
    }
}

/// W13: the host's own schedule is followed.
#[tokio::test]
async fn a_custom_schedule_is_followed() {
    let fixture = Fixture::scripted((0..2).map(|_| answer(StatusCode::BAD_GATEWAY)));
    let mut fixture = fixture.with_endpoints(&["ep_1"]).await;
    let policy = DeliveryPolicy::new(Schedule::new([Duration::from_secs(2)]).unwrap());
    fixture.dispatcher = fixture.dispatcher.with_policy(policy);
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    assert!(report.next_due.unwrap() < start() + Duration::from_secs(3));
    assert_eq!(fixture.run_at(report.next_due).await.next_due, None);
    assert_eq!(
        fixture.load(&delivery_id("evt_1", "ep_1")).await.state,
        DeliveryState::DeadLetter
    );
}
