//! Endpoint health as the host sees it.

use std::{
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use host_ports::testing::SeededEntropy;
use http::{Request, StatusCode};
use webhook_core::{
    event::EventType,
    memory::MemoryEndpoints,
    ports::StoreError,
    sender::{
        Audience, DeliveryState, Dispatcher, Endpoint, EndpointId, EndpointQuery, EndpointState,
        EndpointStore, EndpointUpdate, HealthEvent, Inserted, Rotated, Rotation,
    },
};

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer, broken, delivery_id, start},
};

/// W17: after repeated failures waiting deliveries use no attempts, and one response releases all.
#[tokio::test]
async fn open_breaker_uses_no_attempts() {
    let failures = (0..5).map(|_| answer(StatusCode::BAD_GATEWAY));
    let script = failures.chain((0..10).map(|_| answer(StatusCode::OK)));
    let mut fixture = Fixture::scripted(script).with_endpoints(&["ep_1"]).await;
    fixture.dispatcher = fixture.dispatcher.with_concurrency_per_endpoint(1);
    for n in 1..=7 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let report = fixture.run().await;
    let until = start() + Duration::from_secs(60);
    let health: Vec<_> = report.handled.iter().map(|handled| handled.health).collect();
    let opened = Some(HealthEvent::BreakerOpened { until });
    assert_eq!(health, [None, None, None, None, opened]);
    assert_eq!(report.next_due, Some(until));
    for waiting in ["evt_6", "evt_7"] {
        let delivery = fixture.load(&delivery_id(waiting, "ep_1")).await;
        assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Ready, 0));
    }

    let report = fixture.run_at(report.next_due).await;
    assert_eq!(report.handled[0].health, Some(HealthEvent::BreakerClosed));
    assert!(report.handled[1..].iter().all(|handled| handled.health.is_none()));
    for sent in ["evt_6", "evt_7"] {
        assert_eq!(
            fixture.load(&delivery_id(sent, "ep_1")).await.state,
            DeliveryState::Acked
        );
    }
}

/// W16: an endpoint that fails for five days is disabled, the host is informed and can enable it
/// again.
#[tokio::test]
async fn an_endpoint_that_fails_for_five_days_is_disabled() {
    let fixture = Fixture::answering(|_| async { answer(StatusCode::NOT_FOUND) });
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    let id = "ep_1".parse().unwrap();
    let state = async || fixture.endpoints.load(&id).await.unwrap().unwrap().state;
    for hour in 0..120_u32 {
        fixture.clock.set(start() + hour * Duration::from_secs(60 * 60));
        fixture.send(&format!("evt_{hour}")).await;
        assert!(!fixture.run().await.handled[0].endpoint_disabled, "{hour}");
    }
    assert_eq!(state().await, EndpointState::Enabled);
    fixture.clock.advance(Duration::from_secs(60 * 60));
    fixture.send("evt_120").await;
    let report = fixture.run().await;
    let failing_since = start();
    assert_eq!(
        report.handled[0].health,
        Some(HealthEvent::Disabled { failing_since })
    );
    assert!(report.handled[0].endpoint_disabled);
    assert_eq!(state().await, EndpointState::Disabled);

    fixture
        .endpoints
        .set_state(&id, EndpointState::Enabled)
        .await
        .unwrap();
    fixture.send("evt_121").await;
    assert_eq!(fixture.run().await.handled[0].health, None, "its days start anew");
}

/// Endpoint store that cannot disable: the call panics or fails, or the process crashes in it.
struct Undisabled {
    endpoints: Arc<MemoryEndpoints>,
    mishaps: Mutex<Vec<Mishap>>,
}

enum Mishap {
    Panic,
    Error,
    Crash,
}

#[async_trait::async_trait]
impl EndpointStore for Undisabled {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        self.endpoints.insert(endpoint).await
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        self.endpoints.load(id).await
    }

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        self.endpoints.subscribers(event_type, audience).await
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        self.endpoints.list_endpoints(query).await
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        self.endpoints.update(id, update).await
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        self.endpoints.delete(id).await
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let mishap = self.mishaps.lock().unwrap().pop();
        match mishap {
            Some(Mishap::Panic) => panic!("a bug of the host"),
            Some(Mishap::Error) => Err(broken()),
            Some(Mishap::Crash) => std::future::pending().await,
            None => self.endpoints.set_state(id, state).await,
        }
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        self.endpoints.rotate(id, rotation).await
    }
}

/// W16, W17: an endpoint that could not be disabled, because of an error or a crash, is disabled at
/// the next failure, and does not delay others.
#[tokio::test]
async fn failed_disabling_is_retried_at_next_failure() {
    let fixture = Fixture::answering(|request: Request<Bytes>| {
        let fails = request.uri().host() == Some("ep-1.example.com");
        let status = if fails {
            StatusCode::NOT_FOUND
        } else {
            StatusCode::OK
        };
        async move { answer(status) }
    });
    let fixture = fixture.with_endpoints(&["ep_1", "ep_2"]).await;
    let endpoints = Arc::new(Undisabled {
        endpoints: fixture.endpoints.clone(),
        mishaps: Mutex::new(vec![Mishap::Crash, Mishap::Error, Mishap::Panic]),
    });
    let dispatcher = Dispatcher::new(
        fixture.outbox.clone(),
        endpoints,
        fixture.transport,
        fixture.clock.clone(),
        fixture.clock.clone(),
        SeededEntropy::new(1),
    )
    .with_concurrency(1);
    let id = "ep_1".parse().unwrap();
    let state = async || fixture.endpoints.load(&id).await.unwrap().unwrap().state;
    for hour in 0..120_u32 {
        fixture.clock.set(start() + hour * Duration::from_secs(60 * 60));
        fixture.send(&format!("evt_{hour}")).await;
        dispatcher.run_due().await.unwrap();
    }
    fixture.clock.advance(Duration::from_secs(60 * 60));
    for event in ["evt_panic", "evt_error"] {
        fixture.send(event).await;
        dispatcher.run_due().await.unwrap_err();
        // one lease at a time, and this one after the fault
        let behind = fixture.load(&delivery_id(event, "ep_2")).await;
        assert_eq!(behind.state, DeliveryState::Acked, "{event}");
    }
    fixture.send("evt_crash").await;
    assert!(dispatcher.run_due().now_or_never().is_none());
    assert_eq!(state().await, EndpointState::Enabled);
    fixture.send("evt_last").await;
    let handled = dispatcher.run_due().await.unwrap().handled;
    assert!(handled.iter().any(|handled| handled.endpoint_disabled));
    assert_eq!(state().await, EndpointState::Disabled);
}

/// W15: outcomes that arrive together are written in one batch, and a single one does not wait.
#[tokio::test]
async fn outcomes_that_come_together_are_written_together() {
    let endpoints: Vec<String> = (0..16).map(|n| format!("ep_{n}")).collect();
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    let fixture = Fixture::over(HangingTransport::default());
    let fixture = fixture.with_endpoints(&endpoints).await;
    let counting = Failing::over(&fixture.outbox);
    let dispatcher = fixture.dispatcher_over(counting.clone());
    for n in 0..4 {
        fixture.send(&format!("evt_{n}")).await;
    }
    let mut round = pin!(dispatcher.run_due());
    assert!(round.as_mut().now_or_never().is_none());
    assert_eq!(fixture.transport.hosts().len(), 64);
    fixture.transport.answer(0, answer(StatusCode::OK));
    assert!(round.as_mut().now_or_never().is_none());
    assert_eq!(*counting.batches.lock().unwrap(), [1]);
    for index in 1..64 {
        fixture.transport.answer(index, answer(StatusCode::OK));
    }
    assert_eq!(round.await.unwrap().handled.len(), 64);
    let batches = counting.batches.lock().unwrap();
    assert_eq!(batches.iter().sum::<usize>(), 64);
    assert!(batches.len() <= 3, "{batches:?}");
}
