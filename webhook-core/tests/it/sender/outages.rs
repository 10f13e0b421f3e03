//! Outages of one store while the other works.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use host_ports::testing::{ScriptedTransport, SeededEntropy};
use http::StatusCode;
use webhook_core::sender::{
    Bulkheads, DeliveryPolicy, DeliveryState, Dispatcher, Disposition, EndpointState, EndpointStore,
    FailureReason, LeaseRequest, Outbox,
};

use super::{
    failing::{FailingEndpoints, Mishap},
    fixture::{ExchangeResult, Fixture, answer, delivery_id, start},
    host::{Host, acked, proceed},
};

/// Deadline and margin of a lease.
const LEASE: Duration = Duration::from_secs(40);
/// Hold of a delivery whose endpoint could not be read.
const PAUSE: Duration = Duration::from_secs(10);

type Scripted = Fixture<ScriptedTransport>;

async fn scripted(script: impl IntoIterator<Item = ExchangeResult>, ids: &[&str]) -> Scripted {
    Fixture::scripted(script).with_endpoints(ids).await
}

fn dispatcher(fixture: &Scripted, endpoints: &Arc<FailingEndpoints>) -> Dispatcher {
    Dispatcher::new(
        fixture.outbox.clone(),
        endpoints.clone(),
        fixture.transport.clone(),
        fixture.clock.clone(),
        fixture.clock.clone(),
        SeededEntropy::new(1),
    )
}

/// W15: while endpoints cannot be read, for example without their key, nothing is sent and no
/// attempt is counted; deliveries are sent after the outage.
#[tokio::test]
async fn endpoint_store_outage_costs_no_delivery() {
    for mishap in [Mishap::Error, Mishap::Panic] {
        let fixture = scripted([answer(StatusCode::OK)], &["ep_1"]).await;
        let endpoints = Arc::new(FailingEndpoints::over(&fixture.endpoints));
        let dispatcher = dispatcher(&fixture, &endpoints);
        fixture.send("evt_1").await;
        let id = delivery_id("evt_1", "ep_1");
        *endpoints.unreadable.lock().unwrap() = Some(mishap);
        for _ in 0..10 {
            dispatcher.run_due().await.unwrap_err();
            let waiting = fixture.load(&id).await;
            let due_at = fixture.now() + PAUSE;
            assert_eq!(
                (waiting.state, waiting.due_at),
                (DeliveryState::RetryScheduled, due_at)
            );
            assert_eq!((waiting.attempts, waiting.crashes), (0, 0));
            fixture.clock.advance(LEASE);
        }
        assert_eq!(fixture.outbox.attempts(&id).await.unwrap(), []);
        *endpoints.unreadable.lock().unwrap() = None;
        let report = dispatcher.run_due().await.unwrap();
        assert_eq!(report.handled[0].disposition, Disposition::Acked);
        assert_eq!(fixture.transport.requests().len(), 1);
    }
}

/// W15, W17: an endpoint that cannot be read is held and does not delay others; the host gets both
/// results.
#[tokio::test]
async fn unreadable_endpoint_does_not_delay_others() {
    let script = (0..2).map(|_| answer(StatusCode::OK));
    let fixture = scripted(script, &["ep_bad", "ep_good"]).await;
    let endpoints = Arc::new(FailingEndpoints {
        of: Some("ep_bad".parse().unwrap()),
        ..FailingEndpoints::over(&fixture.endpoints)
    });
    *endpoints.unreadable.lock().unwrap() = Some(Mishap::Error);
    let dispatcher = dispatcher(&fixture, &endpoints);
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    for event in ["evt_1", "evt_2"] {
        fixture.send(event).await;
        host.wake.notify_one();
        proceed(&mut run).await;
    }
    let due_at = start() + PAUSE;
    let mut handled = host.handled();
    handled.sort_by(|one, other| one.0.cmp(&other.0));
    let held = ("evt_1/ep_bad".to_owned(), Disposition::Held { due_at });
    assert_eq!(handled, [held, acked("evt_1/ep_good"), acked("evt_2/ep_good")]);
    assert_eq!(host.errors.load(Ordering::Relaxed), 1);
    assert_eq!(host.next_due(), Some(due_at));
}

/// W11, W15, W17: a 410 whose endpoint could not be disabled is retried, counts no attempt, is
/// logged, and does not count as a 429.
#[tokio::test]
async fn unwritten_410_is_retried() {
    let script = (0..7).map(|_| answer(StatusCode::GONE));
    let fixture = scripted(script, &["ep_1"]).await;
    let endpoints = Arc::new(FailingEndpoints::over(&fixture.endpoints));
    let dispatcher = dispatcher(&fixture, &endpoints);
    fixture.send("evt_1").await;
    let id = delivery_id("evt_1", "ep_1");
    *endpoints.unwritable.lock().unwrap() = Some(Mishap::Error);
    for sent in 1..7 {
        dispatcher.run_due().await.unwrap_err();
        let waiting = fixture.load(&id).await;
        assert_eq!(
            (waiting.state, waiting.attempts, waiting.crashes),
            (DeliveryState::RetryScheduled, 0, 0)
        );
        assert_eq!(fixture.outbox.attempts(&id).await.unwrap().len(), sent);
        fixture.clock.advance(LEASE);
    }
    *endpoints.unwritable.lock().unwrap() = None;
    let report = dispatcher.run_due().await.unwrap();
    let gone = Disposition::Failed(FailureReason::EndpointGone);
    assert_eq!(
        (report.handled[0].disposition, report.handled[0].endpoint_disabled),
        (gone, true)
    );
    let endpoint = fixture.endpoints.load(&id.endpoint).await.unwrap().unwrap();
    assert_eq!(endpoint.state, EndpointState::Disabled);

    let enabled = fixture.endpoints.set_state(&id.endpoint, EndpointState::Enabled);
    assert!(enabled.await.unwrap());
    for n in 2..12 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let request = LeaseRequest {
        now: fixture.now(),
        until: fixture.now() + LEASE,
        limit: 10,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 10,
        suspects: 1,
        quarantine_after: 5,
    };
    let leases = fixture.outbox.lease(&request).await.unwrap();
    assert_eq!(leases.leased.len(), 4, "as many at a time as at first");
}

/// W11: an outage does not extend the lifetime of a message.
#[tokio::test]
async fn an_outage_ends_with_the_lifetime() {
    let fixture = scripted([], &["ep_1"]).await;
    let endpoints = Arc::new(FailingEndpoints::over(&fixture.endpoints));
    let lifetime = Duration::from_secs(60);
    let policy = DeliveryPolicy::default().with_lifetime(lifetime);
    let dispatcher = dispatcher(&fixture, &endpoints).with_policy(policy);
    fixture.send("evt_1").await;
    *endpoints.unreadable.lock().unwrap() = Some(Mishap::Error);
    for _ in 0..6 {
        dispatcher.run_due().await.unwrap_err();
        fixture.clock.advance(PAUSE);
    }
    let ended = fixture.load(&delivery_id("evt_1", "ep_1")).await;
    assert_eq!(
        (ended.state, ended.reason),
        (DeliveryState::DeadLetter, Some(FailureReason::LifetimeExpired))
    );
}
