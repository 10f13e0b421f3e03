//! Attempt log and reports.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use webhook_core::{
    ports::TransportError,
    sender::{
        AttemptOutcome, AttemptResult, DeliveryFilter, DeliveryState, KEPT_ANSWER, Outbox, Page, Report,
        Settled,
    },
};

use super::fixture::{Fixture, answer, delivery_id, start};

/// W18: every attempt is logged with its time, its status and the first 4 KiB of its response.
#[tokio::test]
async fn attempt_log_has_status_and_body() {
    let mut verbose = Response::new(Bytes::from(vec![b'x'; 3 * KEPT_ANSWER]));
    *verbose.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    let fixture = Fixture::scripted([
        Ok(verbose),
        Err(TransportError::timeout()),
        answer(StatusCode::ACCEPTED),
    ]);
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let second_at = fixture.run().await.next_due;
    let third_at = fixture.run_at(second_at).await.next_due;
    fixture.run_at(third_at).await;
    let log = fixture
        .outbox
        .attempts(&delivery_id("evt_1", "ep_1"))
        .await
        .unwrap();
    let [first, second, third] = log.as_slice() else {
        panic!("three attempts were made")
    };
    let kept = Bytes::from(vec![b'x'; KEPT_ANSWER]);
    assert_eq!(
        first.result,
        AttemptResult::Answered {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            body: kept
        }
    );
    assert!(
        matches!(&second.result, AttemptResult::Failed { message, .. } if message == "exchange timed out")
    );
    assert!(matches!(
        third.result,
        AttemptResult::Answered {
            status: StatusCode::ACCEPTED,
            ..
        }
    ));
    let times = log.iter().map(|attempt| Some(attempt.started_at));
    assert!(times.eq([Some(start()), second_at, third_at]));
}

/// W18: a receiver that throttles for days does not fill the log: only the response with which the
/// delivery fails is kept.
#[tokio::test]
async fn endless_throttling_leaves_one_answer_in_the_log() {
    let transport = |_| async {
        let mut verbose = Response::new(Bytes::from(vec![b'x'; 3 * KEPT_ANSWER]));
        *verbose.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        Ok(verbose)
    };
    let fixture = Fixture::answering(transport).with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let mut report = fixture.run().await;
    while report.next_due.is_some() {
        report = fixture.run_at(report.next_due).await;
    }
    let id = delivery_id("evt_1", "ep_1");
    assert_eq!(fixture.load(&id).await.state, DeliveryState::DeadLetter);
    let log = fixture.outbox.attempts(&id).await.unwrap();
    assert!(log.len() > 4_000, "{} attempts", log.len());
    let kept = log.iter().map(|attempt| match &attempt.result {
        AttemptResult::Answered { status, body } if *status == StatusCode::TOO_MANY_REQUESTS => body.len(),
        other => panic!("{other:?}"),
    });
    let kept: Vec<usize> = kept.collect();
    assert_eq!(kept.iter().sum::<usize>(), KEPT_ANSWER);
    assert_eq!(kept.last(), Some(&KEPT_ANSWER));
}

/// W18: the log has the duration of each exchange.
#[tokio::test]
async fn attempt_log_has_duration() {
    let clock = host_ports::testing::ManualClock::new(start());
    let hands = clock.clone();
    let transport = move |_| {
        hands.advance(Duration::from_millis(1_250));
        async { answer(StatusCode::OK) }
    };
    let fixture = Fixture::answering(transport).with_endpoints(&["ep_1"]).await;
    let dispatcher = webhook_core::sender::Dispatcher::new(
        fixture.outbox.clone(),
        fixture.endpoints.clone(),
        fixture.transport.clone(),
        clock,
        fixture.clock.clone(),
        host_ports::testing::SeededEntropy::new(1),
    );
    fixture.send("evt_1").await;
    dispatcher.run_due().await.unwrap();
    let log = fixture
        .outbox
        .attempts(&delivery_id("evt_1", "ep_1"))
        .await
        .unwrap();
    assert_eq!(log[0].duration, Duration::from_millis(1_250));
}

/// W18: the report of a round has the result of each delivery, and the time of the next call.
#[tokio::test]
async fn report_has_result_of_each_delivery() {
    let fixture = Fixture::scripted([answer(StatusCode::OK)])
        .with_endpoints(&["ep_1"])
        .await;
    assert_eq!(fixture.run().await, Report::default());
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    let [handled] = report.handled.as_slice() else {
        panic!("one was delivered")
    };
    assert_eq!(handled.delivery, delivery_id("evt_1", "ep_1"));
    assert_eq!(
        handled.outcome,
        Some(AttemptOutcome::Answered {
            status: StatusCode::OK,
            retry_after: None
        })
    );
    assert_eq!(handled.settled, Settled::Applied);
    let all = fixture
        .outbox
        .list(&DeliveryFilter::default(), &Page::default())
        .await
        .unwrap();
    assert_eq!(all[0].attempts, 1);
}
