//! A webhook sender as a host builds it: a store, HTTP over sockets, a dispatcher.

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
        Audience, Dispatcher, Disposition, Endpoint, EndpointStore, Enqueued, Handled, Outbox, Owner,
        StoredEvent, fan_out,
    },
    signature::Signer,
};

/// A store with registered endpoints, and a dispatcher with default settings.
#[derive(Debug)]
pub struct Sender<S> {
    store: Arc<S>,
    dispatcher: Dispatcher,
    endpoints: Vec<Endpoint>,
    body: Bytes,
    new_event: Notify,
}

impl<S: Outbox + EndpointStore + 'static> Sender<S> {
    /// Registers an endpoint for each of `urls`. Every event will have this `body`.
    ///
    /// # Panics
    ///
    /// The store fails, or a URL is not one of a loopback address.
    pub async fn new(store: S, urls: impl IntoIterator<Item = String>, body: Bytes) -> Self {
        let store = Arc::new(store);
        let urls: Vec<String> = urls.into_iter().collect();
        let policy = policy(&urls);
        // resolves the name in the certificate of a sink over TLS
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
            let endpoint = Endpoint::register(
                id,
                Owner::Tenant("acme".parse().expect("an id")),
                &url,
                signer,
                &policy,
            )
            .expect("a loopback address");
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

    /// Enqueues an event for the endpoint with this index and wakes the dispatcher.
    ///
    /// # Panics
    ///
    /// The store fails, or an event with this id exists.
    pub async fn enqueue(&self, id: &str, endpoint: usize) {
        let now = SystemTime::now();
        let event = StoredEvent {
            id: id.parse().expect("an id"),
            event_type: "invoice.paid".parse().expect("a type"),
            audience: Audience::tenant("acme".parse().expect("an id")),
            created_at: now,
            body: self.body.clone(),
            trace: None,
        };
        let enqueue = fan_out(event, self.endpoints.get(endpoint), now);
        let enqueued = self.store.enqueue(enqueue).await;
        assert_eq!(enqueued.expect("stored"), Enqueued::Enqueued);
        self.new_event.notify_one();
    }

    /// Delivers until `count` deliveries are acknowledged. Calls `accepted` for each of them, after
    /// its outcome is stored.
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

/// Allows loopback addresses, and the ports of these URLs.
fn policy(urls: &[String]) -> AddressPolicy {
    let ports = urls
        .iter()
        .filter_map(|url| url.parse::<Uri>().ok()?.port_u16())
        .collect::<BTreeSet<_>>();
    let loopback = AddressPolicy::new().danger_allow_loopback();
    ports.into_iter().fold(loopback, AddressPolicy::with_port)
}
