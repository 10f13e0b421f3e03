//! Ports that never return: the dispatcher gives a call up and goes on.

use std::{
    future::{pending, poll_fn},
    pin::pin,
    sync::atomic::Ordering,
    task::Poll,
    time::Duration,
};

use http::StatusCode;
use webhook_core::{
    ports::TransportErrorKind,
    sender::{AttemptOutcome, DeliveryState, Disposition, Outbox, SILENCE},
};

use super::{
    fixture::{Fixture, HangingTransport, answer, delivery_id},
    host::{Host, acked, proceed},
    stuck::{Stuck, StuckStore},
};

const SECOND: Duration = Duration::from_secs(1);

/// A fixture whose stores hang on command.
async fn fixture() -> (Fixture<HangingTransport>, StuckStore) {
    let mut fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let store = StuckStore {
        outbox: fixture.outbox.clone(),
        endpoints: fixture.endpoints.clone(),
        ..StuckStore::default()
    };
    fixture.dispatcher = fixture.dispatcher_on(store.clone(), store.clone());
    (fixture, store)
}

/// Advances the clock second by second, and polls the run after each, woken as by new events.
macro_rules! pass {
    ($fixture:ident, $host:ident, $run:ident, $seconds:expr) => {
        for _ in 0..$seconds {
            $fixture.clock.advance(SECOND);
            $host.wake.notify_one();
            proceed(&mut $run).await;
            proceed(&mut $run).await;
        }
    };
}

/// W28: a turn that never returns is given up after 20 seconds, whether or not it was written, and
/// its events are sent 10 seconds later at most.
#[tokio::test]
async fn hung_turn_is_given_up() {
    for stuck in [Stuck::Turn, Stuck::TurnResult] {
        let (fixture, store) = fixture().await;
        let host = Host::default();
        let mut run = pin!(host.run(&fixture.dispatcher));
        proceed(&mut run).await;
        fixture.send("evt_1").await;
        store.set(Some(stuck));
        host.wake.notify_one();
        proceed(&mut run).await;
        store.set(None);
        pass!(fixture, host, run, 19);
        assert_eq!(fixture.transport.hosts().len(), 0, "{stuck:?}");
        pass!(fixture, host, run, 11);
        assert_eq!(fixture.transport.hosts().len(), 1, "{stuck:?}");
        assert!(host.errors.load(Ordering::Relaxed) > 0);
        fixture.transport.answer(0, answer(StatusCode::OK));
        proceed(&mut run).await;
        assert_eq!(host.handled(), [acked("evt_1/ep_1")], "{stuck:?}");
    }
}

/// W28: an outcome whose write never returns is written later; its event is not sent again.
#[tokio::test]
async fn hung_write_of_an_outcome_is_repeated() {
    let (fixture, store) = fixture().await;
    let host = Host::default();
    fixture.send("evt_1").await;
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    store.set(Some(Stuck::Turn));
    fixture.transport.answer(0, answer(StatusCode::OK));
    proceed(&mut run).await;
    pass!(fixture, host, run, 20);
    store.set(None);
    pass!(fixture, host, run, 10);
    assert_eq!(host.handled(), [acked("evt_1/ep_1")]);
    assert_eq!(fixture.transport.hosts().len(), 1);
}

/// W28: an endpoint store that never returns holds its delivery, and no other.
#[tokio::test]
async fn hung_endpoint_store_holds_its_deliveries() {
    let (fixture, store) = fixture().await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    store.set(Some(Stuck::Load));
    fixture.send("evt_1").await;
    proceed(&mut run).await;
    // all endpoints together, then each alone
    pass!(fixture, host, run, 21);
    let held = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!((held.state, held.attempts), (DeliveryState::RetryScheduled, 0));
    store.set(None);
    pass!(fixture, host, run, 12);
    assert_eq!(fixture.transport.hosts().len(), 1);
}

/// W28: a transport that ignores its deadline is abandoned two seconds after it: a timeout.
#[tokio::test]
async fn transport_beyond_its_deadline_is_abandoned() {
    let fixture = Fixture::answering(async |_| pending().await)
        .with_endpoints(&["ep_1"])
        .await;
    let host = Host::default();
    fixture.send("evt_1").await;
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    pass!(fixture, host, run, 11);
    assert_eq!(host.handled().len(), 0);
    pass!(fixture, host, run, 1);
    let handled = host.handled.lock().unwrap();
    let timeout = AttemptOutcome::Failed(TransportErrorKind::Timeout);
    assert_eq!(handled[0].outcome, Some(timeout));
    assert!(matches!(handled[0].disposition, Disposition::Retry { .. }));
}

/// W28, W29: a heartbeat that never returns stops no delivery.
#[tokio::test]
async fn hung_heartbeat_stops_no_delivery() {
    let (fixture, store) = fixture().await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    store.set(Some(Stuck::Beat));
    pass!(fixture, host, run, 3);
    fixture.send("evt_1").await;
    host.wake.notify_one();
    proceed(&mut run).await;
    fixture.transport.answer(0, answer(StatusCode::OK));
    proceed(&mut run).await;
    assert_eq!(host.handled(), [acked("evt_1/ep_1")]);
}

/// W28: a stop while the store hangs ends the run, after the deadlines of its last calls.
#[tokio::test]
async fn stop_while_the_store_hangs_ends_the_run() {
    let (fixture, store) = fixture().await;
    let host = Host::default();
    fixture.send("evt_1").await;
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    store.set(Some(Stuck::Settle));
    fixture.transport.answer(0, answer(StatusCode::OK));
    host.stop();
    let mut seconds = 0;
    while poll_fn(|context| Poll::Ready(run.as_mut().poll(context).is_pending())).await {
        fixture.clock.advance(SECOND);
        seconds += 1;
    }
    assert!((20..=40).contains(&seconds), "{seconds} s");
    // the instance has left, so that the delivery is free at once
    store.set(None);
    let row = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!((row.state, row.owner), (DeliveryState::RetryScheduled, None));
}

/// W29: after a stall, a dispatcher proves that it lives before it leases.
#[tokio::test]
async fn stalled_dispatcher_joins_again_before_it_leases() {
    let (fixture, store) = fixture().await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    let other = store.join().await.unwrap().unwrap();
    let beats = store.beat(other).await.unwrap();
    let stalled = beats.iter().find(|beat| beat.instance != other).unwrap();
    let counter = stalled.counter;
    let silent = webhook_core::sender::Departure::Silent { counter };
    store
        .leave(stalled.instance, silent, fixture.now())
        .await
        .unwrap();
    fixture.send("evt_1").await;
    fixture.clock.advance(SILENCE);
    host.wake.notify_one();
    proceed(&mut run).await;
    let row = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!(row.state, DeliveryState::Leased);
    assert!(
        row.owner
            .is_some_and(|owner| owner != stalled.instance && owner != other)
    );
}
