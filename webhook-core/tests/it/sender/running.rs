//! The dispatcher as a service runs it: woken by new events, and told to stop.

use std::{
    future::{Future, poll_fn},
    ops::ControlFlow,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use futures_util::FutureExt;
use http::StatusCode;
use tokio::sync::Notify;
use webhook_core::{
    sender::{
        DeliveryFilter, DeliveryPolicy, DeliveryState, Dispatcher, Disposition, Handled, Outbox, Page,
        Schedule,
    },
    testing::SeededEntropy,
};

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer, delivery_id, start},
};

/// What a host brings to [`Dispatcher::run`].
#[derive(Default)]
struct Host {
    wake: Notify,
    is_stopping: AtomicBool,
    asked: Mutex<Vec<Option<SystemTime>>>,
    handled: Mutex<Vec<Handled>>,
}

impl Host {
    fn run(
        &self,
        dispatcher: &Dispatcher,
    ) -> impl Future<Output = Result<(), webhook_core::ports::StoreError>> {
        let wait = |next_due| {
            self.asked.lock().unwrap().push(next_due);
            async {
                self.wake.notified().await;
                if self.is_stopping.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }
        };
        dispatcher.run(wait, |handled| self.handled.lock().unwrap().push(handled))
    }

    fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// When the dispatcher wants to be woken, as it said last.
    fn next_due(&self) -> Option<SystemTime> {
        *self.asked.lock().unwrap().last().unwrap()
    }

    fn handled(&self) -> Vec<(String, Disposition)> {
        let handled = self.handled.lock().unwrap();
        handled
            .iter()
            .map(|handled| (handled.delivery.to_string(), handled.disposition))
            .collect()
    }
}

/// Lets a run go on until it waits for something.
async fn proceed(run: &mut Pin<&mut impl Future<Output: std::fmt::Debug>>) {
    poll_fn(|context| {
        assert!(run.as_mut().poll(context).is_pending(), "it runs on");
        std::task::Poll::Ready(())
    })
    .await;
}

fn acked(delivery: &str) -> (String, Disposition) {
    (delivery.to_owned(), Disposition::Acked)
}

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

/// W17: a retry that becomes due while another exchange hangs is sent at its time, and the host is told that time.
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

/// W17: however long a dispatcher runs, an exchange that hangs holds no more than its own place.
#[tokio::test]
async fn a_long_run_is_not_held_up_by_one_that_hangs() {
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

/// W17: the last free place is used, also while all the others hang.
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

/// W15: told to stop, a dispatcher begins nothing more, and leaves when all that is under way is settled.
#[tokio::test]
async fn a_dispatcher_that_is_told_to_stop_settles_what_is_under_way() {
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
    run.await.unwrap();
    assert_eq!((host.handled().len(), fixture.transport.hosts().len()), (4, 4));
    let leased = DeliveryFilter::in_states([DeliveryState::Leased]);
    assert_eq!(fixture.outbox.list(&leased, &Page::default()).await.unwrap(), []);
}

/// W15: a dispatcher whose places are all taken hears that it is to stop.
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
    run.await.unwrap();
    assert_eq!(host.handled(), [acked("evt_1/ep_1")]);
}

/// W17: an idle dispatcher looks once and waits, until the moment it was told or for a new event.
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
    run.await.unwrap();
}

/// W15: after a store's failure nothing more is begun; what is under way is settled, and then the run ends with the error.
#[tokio::test]
async fn a_failing_store_ends_a_run_when_all_is_home() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    let failing = Arc::new(Failing {
        outbox: fixture.outbox.clone(),
        broken: true.into(),
        ..Failing::default()
    });
    let dispatcher = Dispatcher::new(
        failing.clone(),
        fixture.endpoints.clone(),
        Arc::new(fixture.transport.clone()),
        fixture.clock.clone(),
        SeededEntropy::new(1),
    );
    for n in 0..6 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    proceed(&mut run).await;
    fixture.transport.answer(0, answer(StatusCode::OK));
    proceed(&mut run).await;
    failing.broken.store(false, Ordering::Relaxed);
    for index in 1..4 {
        fixture.transport.answer(index, answer(StatusCode::OK));
    }
    assert!(run.now_or_never().unwrap().is_err());
    assert_eq!((host.handled().len(), fixture.transport.hosts().len()), (3, 4));
}

/// A run can be spawned wherever its host likes.
#[test]
fn a_run_may_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    let fixture = Fixture::scripted([]);
    let stop = |_| std::future::ready(ControlFlow::Break(()));
    is_send(fixture.dispatcher.run(stop, drop));
    is_send(fixture.dispatcher.run_due());
}
