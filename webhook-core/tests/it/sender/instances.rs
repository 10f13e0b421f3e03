//! Leases of dispatchers that stop, die or have wrong clocks.

use std::{pin::pin, time::Duration};

use http::StatusCode;
use webhook_core::sender::{DeliveryState, Outbox};

use super::{
    fixture::{Fixture, HangingTransport, answer, delivery_id},
    host::{Host, acked, proceed},
};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// W29: the work of a killed dispatcher is leased again within 15 seconds, whatever the wall clock
/// did meanwhile.
#[tokio::test]
async fn work_of_a_killed_dispatcher_is_free_in_15_s() {
    for step in ["none", "day forward", "hour back"] {
        let fixture = Fixture::over(HangingTransport::default())
            .with_endpoints(&["ep_1"])
            .await;
        fixture.send("evt_1").await;
        {
            let host = Host::default();
            let mut run = pin!(host.run(&fixture.dispatcher));
            proceed(&mut run).await;
            assert_eq!(fixture.transport.hosts().len(), 1);
        }
        match step {
            "day forward" => fixture.clock.set(fixture.now() + HOUR * 24),
            "hour back" => fixture.clock.set(fixture.now() - HOUR),
            _ => {}
        }
        let host = Host::default();
        let mut run = pin!(host.run(&fixture.dispatcher));
        let mut seconds = 0;
        while fixture.transport.hosts().len() < 2 {
            proceed(&mut run).await;
            fixture.clock.advance(SECOND);
            seconds += 1;
            assert!(seconds <= 15, "{step}: still waiting");
        }
        assert!(seconds >= 9, "{step}: a living owner would have lost it");
        fixture.transport.answer(1, answer(StatusCode::OK));
        proceed(&mut run).await;
        assert_eq!(host.handled(), [acked("evt_1/ep_1")], "{step}");
    }
}

/// W29: events that were accepted before the clock was set back are sent, also if it is set back
/// while the dispatcher runs.
#[tokio::test]
async fn clock_set_back_delays_no_new_event() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1", "ep_2"])
        .await;
    fixture.send("evt_1").await;
    fixture.clock.set(fixture.now() - HOUR);
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 2);
    fixture.send("evt_2").await;
    fixture.clock.set(fixture.now() - HOUR);
    host.wake.notify_one();
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 4);
}

/// W29: a clean stop leaves no instance and no lease behind.
#[tokio::test]
async fn clean_stop_leaves_nothing_behind() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    host.stop();
    proceed(&mut run).await;
    fixture.transport.answer(0, answer(StatusCode::BAD_GATEWAY));
    run.await;
    let row = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!((row.state, row.owner), (DeliveryState::RetryScheduled, None));
    let observer = fixture.outbox.join().await.unwrap().unwrap();
    let instances = fixture.outbox.beat(observer).await.unwrap();
    assert_eq!(instances.len(), 1, "the observer alone");
}

/// W29: a dispatcher that lives keeps its leases for as long as its exchanges take.
#[tokio::test]
async fn living_dispatcher_keeps_its_leases() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let dispatcher = fixture.dispatcher.clone().with_deadline(HOUR);
    fixture.send("evt_1").await;
    let (slow, other) = (Host::default(), Host::default());
    let mut run = pin!(slow.run(&dispatcher));
    proceed(&mut run).await;
    let mut beside = pin!(other.run(&fixture.dispatcher));
    for _ in 0..120 {
        fixture.clock.advance(SECOND);
        proceed(&mut run).await;
        proceed(&mut beside).await;
    }
    assert_eq!(fixture.transport.hosts().len(), 1);
    fixture.transport.answer(0, answer(StatusCode::OK));
    proceed(&mut run).await;
    assert_eq!(slow.handled(), [acked("evt_1/ep_1")]);
}
