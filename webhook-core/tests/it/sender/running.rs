//! Dispatcher as a service: woken by new events, and stopped.

use std::{ops::ControlFlow, pin::pin, sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode};
use webhook_core::sender::{
    AttemptOutcome, Classification, DeliveryFilter, DeliveryPolicy, DeliveryState, Outbox, Page, Schedule,
};

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer, delivery_id, start},
    host::{Host, acked, proceed},
};

/// W17: an event that is stored while another exchange hangs is sent and settled at once.
#[tokio::test]
async fn a_new_event_goes_out_while_another_exchange_hangs() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    fixture.send("evt_hangs").await;
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 1);

    fixture.send("evt_new").await;
    host.wake.notify_one();
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 2);
    fixture.transport.answer(1, answer(StatusCode::OK));
    proceed(&mut run).await;
    assert_eq!(host.handled(), [acked("evt_new/ep_1")]);
    let stored = fixture.load(&delivery_id("evt_hangs", "ep_1")).await;
    assert_eq!(stored.state, DeliveryState::Leased);
}

/// W17: a retry that becomes due while another exchange hangs is sent on time, and the host gets
/// that time.
#[tokio::test]
async fn a_retry_goes_out_on_time_while_another_exchange_hangs() {
    let mut fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_slow", "ep_quick"])
        .await;
    let schedule = Schedule::new([Duration::from_secs(2)]).unwrap();
    fixture.dispatcher = fixture.dispatcher.with_policy(DeliveryPolicy::new(schedule));
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    fixture.send("evt_1").await;
    proceed(&mut run).await;
    let hosts = fixture.transport.hosts();
    let quick = hosts
        .iter()
        .position(|host| host.starts_with("ep-quick"))
        .unwrap();
    fixture.transport.answer(quick, answer(StatusCode::BAD_GATEWAY));
    proceed(&mut run).await;

    let due_at = fixture.load(&delivery_id("evt_1", "ep_quick")).await.due_at;
    assert_eq!(host.next_due(), Some(due_at));
    assert!(due_at < start() + Duration::from_secs(3));
    fixture.clock.set(due_at);
    host.wake.notify_one();
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 3);
}

/// W17: in a long run a hanging exchange holds only its own place.
#[tokio::test]
async fn hanging_exchange_does_not_block_long_run() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    fixture.send("evt_hangs").await;
    proceed(&mut run).await;
    for n in 1..=1_100 {
        fixture.send(&format!("evt_{n}")).await;
        host.wake.notify_one();
        proceed(&mut run).await;
        fixture.transport.answer(n, answer(StatusCode::OK));
        proceed(&mut run).await;
    }
    assert_eq!(host.handled().len(), 1_100);
}

/// W17: the last free place is used, also while all others hang.
#[tokio::test]
async fn one_free_place_is_enough_to_go_on() {
    let mut fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_quick", "ep_slow"])
        .await;
    fixture.dispatcher = fixture
        .dispatcher
        .with_concurrency(4)
        .with_concurrency_per_endpoint(3);
    for n in 0..10 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let mut round = pin!(fixture.dispatcher.run_due());
    for _ in 0..20 {
        proceed(&mut round).await;
        for (index, host) in fixture.transport.hosts().iter().enumerate() {
            if host.starts_with("ep-quick") {
                fixture.transport.answer(index, answer(StatusCode::OK));
            }
        }
    }
    let acked = DeliveryFilter::in_states([DeliveryState::Acked]);
    let acked = fixture.outbox.list(&acked, &Page::default()).await.unwrap();
    assert_eq!(acked.len(), 10);
}

/// W15: after a stop the dispatcher sends nothing more, and returns when all exchanges are settled.
#[tokio::test]
async fn stopped_dispatcher_settles_running_exchanges() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    for n in 0..10 {
        fixture.send(&format!("evt_{n}")).await;
    }
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 4);
    host.stop();
    proceed(&mut run).await;
    for index in 0..3 {
        fixture.transport.answer(index, answer(StatusCode::OK));
        proceed(&mut run).await;
    }
    fixture.transport.answer(3, answer(StatusCode::BAD_GATEWAY));
    run.await;
    assert_eq!((host.handled().len(), fixture.transport.hosts().len()), (4, 4));
    let leased = DeliveryFilter::in_states([DeliveryState::Leased]);
    assert_eq!(fixture.outbox.list(&leased, &Page::default()).await.unwrap(), []);
}

/// W15: a dispatcher without a free place can be stopped.
#[tokio::test]
async fn a_full_dispatcher_can_be_stopped() {
    let mut fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.dispatcher = fixture.dispatcher.with_concurrency(1);
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    fixture.send("evt_1").await;
    fixture.send("evt_2").await;
    proceed(&mut run).await;
    assert_eq!(host.next_due(), None);
    host.stop();
    proceed(&mut run).await;
    fixture.transport.answer(0, answer(StatusCode::OK));
    run.await;
    assert_eq!(host.handled(), [acked("evt_1/ep_1")]);
}

/// W17: an idle dispatcher polls once and waits, until the next due time or a new event.
#[tokio::test]
async fn an_idle_dispatcher_waits() {
    let fixture = Fixture::scripted([answer(StatusCode::BAD_GATEWAY)])
        .with_endpoints(&["ep_1"])
        .await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    proceed(&mut run).await;
    assert_eq!(*host.asked.lock().unwrap(), [None]);
    fixture.send("evt_1").await;
    host.wake.notify_one();
    proceed(&mut run).await;
    let due_at = fixture.load(&delivery_id("evt_1", "ep_1")).await.due_at;
    assert_eq!((due_at > start(), host.next_due()), (true, Some(due_at)));
    host.stop();
    run.await;
}

/// W15: after a store error nothing is leased for a growing pause; running exchanges and the run
/// continue.
#[tokio::test]
async fn a_failing_store_pauses_a_run() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let failing = Failing::over(&fixture.outbox);
    failing.broken.store(true, Ordering::Relaxed);
    let dispatcher = fixture.dispatcher_over(failing.clone());
    for n in 0..6 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    let mut now = start();
    for (index, pause) in [500, 1_000].into_iter().enumerate() {
        fixture.transport.answer(index, answer(StatusCode::OK));
        proceed(&mut run).await;
        let paused_until = now + Duration::from_millis(pause);
        assert_eq!(host.next_due(), Some(paused_until));
        assert_eq!(host.errors.load(Ordering::Relaxed), index + 1);
        host.wake.notify_one();
        proceed(&mut run).await;
        assert_eq!(fixture.transport.hosts().len(), 4, "a new event ends no pause");
        now = paused_until;
        fixture.clock.set(now);
    }
    failing.broken.store(false, Ordering::Relaxed);
    fixture.transport.answer(2, answer(StatusCode::OK));
    proceed(&mut run).await;
    assert_eq!(
        host.handled().len(),
        3,
        "what could not be written is written now"
    );
    assert_eq!(fixture.transport.hosts().len(), 6);
    host.stop();
    proceed(&mut run).await;
    for index in 3..6 {
        fixture.transport.answer(index, answer(StatusCode::OK));
    }
    run.await;
    assert_eq!((host.handled().len(), fixture.transport.hosts().len()), (6, 6));
}

/// W17: a dispatcher that cannot lease due deliveries waits longer each time, and not at all after
/// an exchange has ended.
#[tokio::test]
async fn leases_without_result_back_off() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    for n in 0..6 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    for pause in [250, 500, 1_000, 2_000, 4_000, 4_000] {
        let look = fixture.now() + Duration::from_millis(pause);
        assert_eq!(host.next_due(), Some(look));
        fixture.clock.set(look);
        host.wake.notify_one();
        proceed(&mut run).await;
    }
    fixture.transport.answer(0, answer(StatusCode::OK));
    proceed(&mut run).await;
    assert_eq!(fixture.transport.hosts().len(), 5);
    assert_eq!(host.next_due(), Some(fixture.now() + Duration::from_millis(250)));
}

/// W15: a panic of the host's policy is an error of that lease alone, which the host gets, and a
/// counted attempt.
#[tokio::test]
async fn policy_panic_ends_one_lease() {
    let mut fixture = Fixture::answering(|request: Request<Bytes>| async move {
        let is_bad = request.uri().host() == Some("ep-bad.example.com");
        answer(if is_bad {
            StatusCode::IM_A_TEAPOT
        } else {
            StatusCode::OK
        })
    })
    .with_endpoints(&["ep_bad", "ep_good"])
    .await;
    let policy = DeliveryPolicy::default().with_classification(|outcome| {
        let teapot = AttemptOutcome::Answered {
            status: StatusCode::IM_A_TEAPOT,
            retry_after: None,
        };
        assert_ne!(*outcome, teapot);
        Classification::Strict.classify(outcome)
    });
    fixture.dispatcher = fixture.dispatcher.with_policy(policy);
    fixture.send("evt_1").await;
    let host = Host::default();
    let mut run = pin!(host.run(&fixture.dispatcher));
    proceed(&mut run).await;
    assert_eq!(host.errors.load(Ordering::Relaxed), 1);
    let good = fixture.load(&delivery_id("evt_1", "ep_good")).await;
    assert_eq!((good.state, good.attempts), (DeliveryState::Acked, 1));
    let bad = fixture.load(&delivery_id("evt_1", "ep_bad")).await;
    assert_eq!((bad.state, bad.attempts), (DeliveryState::RetryScheduled, 1));
}

/// A run can be spawned on another thread.
#[test]
fn a_run_may_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    let fixture = Fixture::scripted([]);
    let stop = |_| std::future::ready(ControlFlow::Break(()));
    is_send(fixture.dispatcher.run(stop, drop));
    is_send(fixture.dispatcher.run_due());
}
