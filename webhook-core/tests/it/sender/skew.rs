//! Sender with a wrong clock.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::{Request, Response, StatusCode};
use webhook_core::{
    ports::{Clock, Transport},
    sender::{DeliveryFilter, Disposition, FailureReason, Outbox, Page, ReplayRequest},
};

use super::fixture::Fixture;

const MINUTE: Duration = Duration::from_secs(60);
const ENDPOINTS: [&str; 4] = ["ep_1", "ep_2", "ep_3", "ep_4"];

/// Receivers that answer with this status, and a `Date` that differs from the sender's clock by
/// these seconds.
async fn receivers(status: u16, errors: [i64; 4]) -> Fixture<impl Transport + Clone + 'static> {
    let clock = Arc::new(OnceLock::<ManualClock>::new());
    let shown = Arc::clone(&clock);
    let fixture = Fixture::answering(move |request: Request<Bytes>| {
        let host = request.uri().host().unwrap_or_default();
        let index = ENDPOINTS
            .iter()
            .position(|id| host.starts_with(&id.replace('_', "-")));
        let now = shown.get().unwrap().now();
        let error = errors[index.unwrap()];
        let by = Duration::from_secs(error.unsigned_abs());
        let date = if error < 0 { now - by } else { now + by };
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        let date = httpdate::fmt_http_date(date).parse().unwrap();
        response.headers_mut().insert("date", date);
        async move { Ok(response) }
    });
    clock.set(fixture.clock.clone()).unwrap();
    fixture.with_endpoints(&ENDPOINTS).await
}

/// Outcomes of an event to four receivers whose `Date` is known from an event before.
async fn refused(holds: bool, status: u16, errors: [i64; 4]) -> Vec<(Disposition, Option<i64>)> {
    let fixture = receivers(status, errors).await;
    let dispatcher = fixture.dispatcher.clone();
    let dispatcher = if holds {
        dispatcher.with_skew_hold()
    } else {
        dispatcher
    };
    fixture.send("evt_1").await;
    dispatcher.run_due().await.unwrap();
    fixture.clock.advance(MINUTE * 2);
    fixture.send("evt_2").await;
    let report = dispatcher.run_due().await.unwrap();
    let handled = report.handled.into_iter();
    handled
        .filter(|handled| handled.delivery.event.as_str() == "evt_2")
        .map(|handled| (handled.disposition, handled.skew.map(|skew| skew.seconds())))
        .collect()
}

/// W30: without a hold a refusal is the permanent failure of the specification, and the report
/// names the error of the clock.
#[tokio::test]
async fn refusal_by_skew_fails_and_is_reported() {
    let failed = Disposition::Failed(FailureReason::Rejected);
    for status in [400, 401] {
        assert_eq!(refused(false, status, [-600; 4]).await, [(failed, Some(600)); 4]);
        assert_eq!(refused(false, status, [600; 4]).await, [(failed, Some(-600)); 4]);
    }
}

/// W30: with `skew_hold` a refusal that the clock explains is held and costs no attempt.
#[tokio::test]
async fn refusal_by_skew_is_held_by_name() {
    let handled = refused(true, 400, [-600; 4]).await;
    assert_eq!(handled.len(), 4);
    for (disposition, skew) in handled {
        assert!(matches!(disposition, Disposition::Held { .. }), "{disposition:?}");
        assert_eq!(skew, Some(600));
    }
}

/// W30: one receiver with a wrong `Date` holds nothing; nor does a refusal that is no 400 or 401.
#[tokio::test]
async fn single_wrong_date_holds_nothing() {
    let failed = Disposition::Failed(FailureReason::Rejected);
    assert_eq!(refused(true, 400, [-600, 0, 0, 0]).await, [(failed, None); 4]);
    assert_eq!(refused(true, 400, [-600, -600, 0, 0]).await, [(failed, None); 4]);
    assert_eq!(refused(true, 404, [-600; 4]).await, [(failed, None); 4]);
}

/// W30: a receiver whose `Date` agrees with the local clock is not excused by the others.
#[tokio::test]
async fn receiver_with_right_date_is_not_excused() {
    let handled = refused(true, 400, [-600, -600, -600, 0]).await;
    let excused = handled.iter().filter(|(_, skew)| skew.is_some()).count();
    assert_eq!((excused, handled.len()), (3, 4));
    let failed = (Disposition::Failed(FailureReason::Rejected), None);
    assert!(handled.contains(&failed), "{handled:?}");
}

/// W30: at the end of its lifetime a held delivery is a dead letter that can be replayed.
#[tokio::test]
async fn held_delivery_ends_as_replayable_dead_letter() {
    let fixture = receivers(400, [-600; 4]).await;
    let dispatcher = fixture.dispatcher.clone().with_skew_hold();
    // the first refusals confirm the error of the clock
    fixture.send("evt_1").await;
    dispatcher.run_due().await.unwrap();
    fixture.clock.advance(MINUTE * 2);
    fixture.send("evt_2").await;
    let mut report = dispatcher.run_due().await.unwrap();
    while report.next_due.is_some() {
        fixture.clock.advance(MINUTE * 3);
        report = dispatcher.run_due().await.unwrap();
    }
    let filter = DeliveryFilter::dead_letters().with_event("evt_2".parse().unwrap());
    let dead = fixture.outbox.list(&filter, &Page::default()).await.unwrap();
    assert_eq!(dead.len(), 4);
    for row in dead {
        assert_eq!(
            (row.attempts, row.reason),
            (0, Some(FailureReason::LifetimeExpired))
        );
    }
    let replay = ReplayRequest {
        filter,
        acknowledged: false,
        after: None,
        limit: usize::MAX,
        now: fixture.now(),
        dry_run: false,
    };
    assert_eq!(fixture.outbox.replay(&replay).await.unwrap().count, 4);
}
