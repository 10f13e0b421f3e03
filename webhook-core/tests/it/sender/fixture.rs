//! In-memory sender with a manual clock.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Poll, Waker},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::testing::{ManualClock, ScriptedTransport, SeededEntropy};
use http::{Request, Response, StatusCode};
use webhook_core::{
    address::AddressPolicy,
    event::Envelope,
    memory::{MemoryEndpoints, MemoryOutbox},
    ports::{Clock, StoreError, Transport, TransportError, TransportFn, transport_fn},
    secret::SigningSecret,
    sender::{
        Audience, Delivery, DeliveryFilter, DeliveryId, Dispatcher, Endpoint, EndpointStore, Enqueued,
        Outbox, Owner, Page, Report, StoredEvent,
    },
    signature::Signer,
};

pub(super) type ExchangeResult = Result<Response<Bytes>, TransportError>;

pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

pub(super) fn secret(byte: u8) -> SigningSecret {
    SigningSecret::from_bytes(&[byte; 32]).unwrap()
}

pub(super) fn signer(byte: u8) -> Signer {
    Signer::standard_webhooks(&secret(byte))
}

pub(super) fn endpoint(id: &str) -> Endpoint {
    let url = format!("https://{id}.example.com/hooks")
        .replace('_', "-")
        .parse()
        .unwrap();
    Endpoint::register(
        id.parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer(1),
        &AddressPolicy::new(),
    )
    .unwrap()
}

pub(super) fn envelope(id: &str) -> Envelope {
    let (id, event_type) = (id.parse().unwrap(), "charge.refunded".parse().unwrap());
    Envelope::new(id, event_type, "1".parse().unwrap(), start(), br#"{"id":"ch_1"}"#).unwrap()
}

/// An event for everyone.
pub(super) fn event(id: &str) -> StoredEvent {
    StoredEvent::new(envelope(id), Audience::everyone())
}

pub(super) fn delivery_id(event: &str, endpoint: &str) -> DeliveryId {
    DeliveryId {
        event: event.parse().unwrap(),
        endpoint: endpoint.parse().unwrap(),
    }
}

pub(super) fn answer(status: StatusCode) -> ExchangeResult {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    Ok(response)
}

pub(super) fn asking(status: StatusCode, retry_after: &'static str) -> ExchangeResult {
    let mut response = answer(status)?;
    response
        .headers_mut()
        .insert("retry-after", retry_after.parse().unwrap());
    Ok(response)
}

/// Outbox, endpoints and a dispatcher over a transport `T`.
pub(super) struct Fixture<T> {
    pub(super) outbox: Arc<MemoryOutbox>,
    pub(super) endpoints: Arc<MemoryEndpoints>,
    pub(super) transport: T,
    pub(super) clock: ManualClock,
    pub(super) dispatcher: Dispatcher,
}

impl Fixture<ScriptedTransport> {
    /// Receivers with scripted responses.
    pub(super) fn scripted(script: impl IntoIterator<Item = ExchangeResult>) -> Self {
        Self::over(ScriptedTransport::new(script))
    }
}

impl<F, A> Fixture<TransportFn<F>>
where
    F: Fn(Request<Bytes>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = ExchangeResult> + Send + 'static,
{
    /// Receivers that respond by a function.
    pub(super) fn answering(answer: F) -> Self {
        Self::over(transport_fn(answer))
    }
}

impl<T: Transport + Clone + 'static> Fixture<T> {
    pub(super) fn over(transport: T) -> Self {
        let outbox = Arc::new(MemoryOutbox::default());
        let endpoints = Arc::new(MemoryEndpoints::default());
        let clock = ManualClock::new(start());
        let dispatcher = Dispatcher::new(
            outbox.clone(),
            endpoints.clone(),
            transport.clone(),
            clock.clone(),
            clock.clone(),
            SeededEntropy::new(1),
        );
        Self {
            outbox,
            endpoints,
            transport,
            clock,
            dispatcher,
        }
    }

    /// Another dispatcher, over an outbox that wraps that of the fixture.
    pub(super) fn dispatcher_over(&self, outbox: Arc<dyn Outbox>) -> Dispatcher {
        Dispatcher::new(
            outbox,
            self.endpoints.clone(),
            self.transport.clone(),
            self.clock.clone(),
            self.clock.clone(),
            SeededEntropy::new(1),
        )
    }

    /// Another dispatcher, over stores that wrap those of the fixture.
    pub(super) fn dispatcher_on(
        &self,
        outbox: impl Outbox + 'static,
        endpoints: impl EndpointStore + 'static,
    ) -> Dispatcher {
        Dispatcher::new(
            outbox,
            endpoints,
            self.transport.clone(),
            self.clock.clone(),
            self.clock.clone(),
            SeededEntropy::new(1),
        )
    }

    /// Registers these endpoints, each for all events.
    pub(super) async fn with_endpoints(self, ids: &[&str]) -> Self {
        for id in ids {
            self.endpoints.insert(endpoint(id)).await.unwrap();
        }
        self
    }

    pub(super) async fn send(&self, id: &str) {
        assert_eq!(self.dispatcher.send(event(id)).await.unwrap(), Enqueued::Enqueued);
    }

    pub(super) async fn run(&self) -> Report {
        self.dispatcher.run_due().await.unwrap()
    }

    /// Moves the clock to `next_due` of the last report, and runs.
    pub(super) async fn run_at(&self, next_due: Option<SystemTime>) -> Report {
        self.clock.set(next_due.unwrap());
        self.run().await
    }

    pub(super) async fn load(&self, id: &DeliveryId) -> Delivery {
        let found = self.outbox.list(&DeliveryFilter::one(id), &Page::default()).await;
        found.unwrap().pop().unwrap()
    }

    pub(super) fn now(&self) -> SystemTime {
        self.clock.now()
    }
}

/// Transport whose exchanges hang until the test answers them, in the order in which they were
/// sent.
#[derive(Clone, Default)]
pub(super) struct HangingTransport(Arc<Mutex<Vec<Exchange>>>);

struct Exchange {
    host: String,
    answer: Option<ExchangeResult>,
    waker: Option<Waker>,
    heard: bool,
}

impl HangingTransport {
    /// The hosts of all exchanges so far.
    pub(super) fn hosts(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|exchange| exchange.host.clone())
            .collect()
    }

    /// Returns `true` if the exchange continued after it was answered.
    pub(super) fn has_heard(&self, index: usize) -> bool {
        self.0.lock().unwrap()[index].heard
    }

    pub(super) fn answer(&self, index: usize, answer: ExchangeResult) {
        let exchange = &mut self.0.lock().unwrap()[index];
        exchange.answer = Some(answer);
        if let Some(waker) = exchange.waker.take() {
            waker.wake();
        }
    }
}

#[async_trait::async_trait]
impl Transport for HangingTransport {
    async fn send(&self, request: Request<Bytes>) -> ExchangeResult {
        let index = {
            let mut exchanges = self.0.lock().unwrap();
            let host = request.uri().host().unwrap_or_default().to_owned();
            exchanges.push(Exchange {
                host,
                answer: None,
                waker: None,
                heard: false,
            });
            exchanges.len() - 1
        };
        poll_fn(|context| {
            let exchange = &mut self.0.lock().unwrap()[index];
            exchange.waker = Some(context.waker().clone());
            exchange.heard = exchange.answer.is_some();
            exchange.answer.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

pub(super) fn broken() -> StoreError {
    StoreError::unavailable("the disk is full")
}
