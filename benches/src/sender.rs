//! Our sender as a host builds it: a store, HTTP over sockets, a dispatcher.

use std::{
    cell::Cell,
    collections::BTreeSet,
    net::Ipv4Addr,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_transport_hyper::HyperTransport;
use http::Uri;
use tokio::{sync::Notify, time::sleep};
use webhook_core::{
    address::AddressPolicy,
    ports::{OsEntropy, StoreError, SystemClock, timer_fn},
    secret::SigningSecret,
    sender::{
        Dispatcher, Disposition, Endpoint, EndpointStore, Enqueued, Handled, Outbox, StoredEvent, fan_out,
    },
    signature::Signer,
};

/// Endpoints at one sink, and a dispatcher with default settings.
#[derive(Debug)]
pub struct Sender<S> {
    store: Arc<S>,
    dispatcher: Dispatcher,
    endpoints: Vec<Endpoint>,
    body: Bytes,
    new_event: Notify,
}

impl<S: Outbox + EndpointStore + 'static> Sender<S> {
    /// Registers an endpoint for each URL. Every event has this body.
    ///
    /// # Panics
    ///
    /// The store fails.
    pub async fn new(store: S, urls: impl IntoIterator<Item = String>, body: Bytes) -> Self {
        let store = Arc::new(store);
        let urls: Vec<String> = urls.into_iter().collect();
        let policy = policy(&urls);
        // the name of the sink over TLS
        let transport = HyperTransport::new(policy.clone())
            .with_roots(host_transport_conformance::tls::roots())
            .with_resolver(|_: &str| Ok(vec![Ipv4Addr::LOCALHOST.into()]));
        let dispatcher = Dispatcher::new(
            store.clone(),
            store.clone(),
            transport,
            SystemClock,
            timer_fn(sleep),
            OsEntropy,
        )
        .with_address_policy(policy.clone());
        let secret = SigningSecret::from_bytes(&[7; 32]).expect("a secret");
        let mut endpoints = Vec::new();
        for (number, url) in urls.into_iter().enumerate() {
            let id = format!("ep_{number}").parse().expect("an id");
            let url = url.parse().expect("a URL");
            let signer = Signer::standard_webhooks(&secret);
            let endpoint = Endpoint::register(id, &url, signer, &policy).expect("a loopback address");
            store.insert(endpoint.clone()).await.expect("stored");
            endpoints.push(endpoint);
        }
        Self {
            store,
            dispatcher,
            endpoints,
            body,
            new_event: Notify::new(),
        }
    }

    /// Enqueues an event for one endpoint and wakes the dispatcher.
    ///
    /// # Panics
    ///
    /// The id exists, or the endpoint does not.
    pub async fn enqueue(&self, id: &str, endpoint: usize) {
        let now = SystemTime::now();
        let event = StoredEvent {
            id: id.parse().expect("an id"),
            event_type: "invoice.paid".parse().expect("a type"),
            created_at: now,
            body: self.body.clone(),
        };
        let enqueue = fan_out(event, self.endpoints.get(endpoint), now);
        let enqueued = self.store.enqueue(enqueue).await;
        assert_eq!(enqueued.expect("stored"), Enqueued::Enqueued);
        self.new_event.notify_one();
    }

    /// Delivers until `count` events were accepted; calls `accepted` after each outcome is stored.
    ///
    /// # Panics
    ///
    /// The store fails.
    pub async fn deliver(&self, count: usize, accepted: impl Fn(Handled)) {
        let (left, over) = (Cell::new(count), Notify::new());
        let wait = |next_due| async move {
            tokio::select! {
                () = until(next_due) => {}
                () = self.new_event.notified() => {}
            }
            ControlFlow::Continue(())
        };
        let settled = |told: Result<Handled, StoreError>| {
            let handled = told.expect("a store that works");
            if handled.disposition == Disposition::Acked {
                left.set(left.get() - 1);
                accepted(handled);
            }
            if left.get() == 0 {
                over.notify_one();
            }
        };
        tokio::select! {
            () = self.dispatcher.run(wait, settled) => {}
            () = over.notified() => {}
        }
    }
}

async fn until(due_at: Option<SystemTime>) {
    let left = due_at.map(|due_at| due_at.duration_since(SystemTime::now()).unwrap_or_default());
    sleep(left.unwrap_or(Duration::MAX)).await;
}

/// Loopback addresses, and the ports of these URLs.
fn policy(urls: &[String]) -> AddressPolicy {
    let ports = urls
        .iter()
        .filter_map(|url| url.parse::<Uri>().ok()?.port_u16())
        .collect::<BTreeSet<_>>();
    let loopback = AddressPolicy::new().danger_allow_loopback();
    ports.into_iter().fold(loopback, AddressPolicy::with_port)
}
