//! The dispatcher: it takes what is due out of the outbox, sends it, and writes down what came of it.
//!
//! A [`Dispatcher`] owns no thread, timer or socket; a host drives it, by [`run`](Dispatcher::run) with a way to wait, or pass by
//! pass with [`run_due`](Dispatcher::run_due):
//!
//! ```text
//! let wait = |next_due| select { sleep_until(next_due) => Continue, new_event.notified() => Continue, stop.told() => Break };
//! dispatcher.run(wait, |told| log(told)).await;
//! ```
//!
//! Several may run at once, in one process or in many: leases keep them apart. If the future is dropped, or the process dies, the
//! leases end by themselves and the deliveries come up again.

mod exchange;
mod outcomes;
mod round;
mod run;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::HeaderValue;

use super::{
    AttemptOutcome, DeliveryId, DeliveryPolicy, Disposition, EndpointStore, Enqueue, Enqueued, HealthEvent,
    Outbox, Settled, StoredEvent,
};
use crate::{
    address::AddressPolicy,
    ports::{Clock, Entropy, StoreError, Transport},
};

/// What a delivery waits at most for a dispatcher that died, but for the margin of its lease.
const LONGEST_DEADLINE: Duration = Duration::from_secs(3_600);

/// Who sends, unless the host says it.
const USER_AGENT: &str = concat!(
    "webhook-core/",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

/// Delivers what the outbox holds.
///
/// # Examples
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::SystemTime;
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use webhook_core::{
///     address::AddressPolicy,
///     event::Envelope,
///     memory::{MemoryEndpoints, MemoryOutbox},
///     ports::{OsEntropy, SystemClock, transport_fn},
///     secret::SigningSecret,
///     sender::{Disposition, Dispatcher, Endpoint, EndpointStore},
///     signature::Signer,
/// };
///
/// let endpoints = MemoryEndpoints::default();
/// let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let url = "https://example.com/hooks".parse()?;
/// let signer = Signer::standard_webhooks(&secret);
/// endpoints.insert(Endpoint::register("ep_1".parse()?, &url, signer, &AddressPolicy::new())?).await?;
///
/// // a host's HTTP client stands here
/// let transport = transport_fn(async |_: Request<Bytes>| Ok(Response::new(Bytes::new())));
/// let dispatcher = Dispatcher::new(MemoryOutbox::default(), endpoints, transport, SystemClock, OsEntropy);
///
/// let event = Envelope::new("evt_1".parse()?, "charge.refunded".parse()?, "1".parse()?, SystemTime::now(), b"{}")?;
/// dispatcher.send(event).await?;
/// let report = dispatcher.run_due().await?;
/// assert_eq!(report.handled[0].disposition, Disposition::Acked);
/// assert_eq!(report.next_due, None);
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone)]
pub struct Dispatcher {
    outbox: Arc<dyn Outbox>,
    endpoints: Arc<dyn EndpointStore>,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    policy: DeliveryPolicy,
    addresses: AddressPolicy,
    user_agent: HeaderValue,
    deadline: Duration,
    concurrency: usize,
    concurrency_per_endpoint: usize,
    quarantine_after: u32,
}

/// What a call of [`Dispatcher::run_due`] did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The deliveries that came up, in the order in which they were settled.
    pub handled: Vec<Handled>,
    /// When to call again, at the latest; `None` when nothing waits for anything but a new event.
    pub next_due: Option<SystemTime>,
}

/// What became of one lease.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Handled {
    /// The delivery.
    pub delivery: DeliveryId,
    /// What came back; `None` when no attempt was made.
    pub outcome: Option<AttemptOutcome>,
    /// What was made of it.
    pub disposition: Disposition,
    /// Whether that could still be written.
    pub settled: Settled,
    /// Whether the endpoint was disabled, because it answered 410 or was given up.
    pub endpoint_disabled: bool,
    /// What that changed in the endpoint's health.
    pub health: Option<HealthEvent>,
}

impl Dispatcher {
    /// A dispatcher with the usual policy, the strict address rules, and at most 64 exchanges at a time, 16 per endpoint, of at
    /// most 10 seconds each. An `Arc` of a port is the port too.
    #[must_use]
    pub fn new(
        outbox: impl Outbox + 'static,
        endpoints: impl EndpointStore + 'static,
        transport: impl Transport + 'static,
        clock: impl Clock + 'static,
        entropy: impl Entropy + 'static,
    ) -> Self {
        Self {
            outbox: Arc::new(outbox),
            endpoints: Arc::new(endpoints),
            transport: Arc::new(transport),
            clock: Arc::new(clock),
            entropy: Arc::new(entropy),
            policy: DeliveryPolicy::default(),
            addresses: AddressPolicy::new(),
            user_agent: HeaderValue::from_static(USER_AGENT),
            deadline: Duration::from_secs(10),
            concurrency: 64,
            concurrency_per_endpoint: 16,
            quarantine_after: 5,
        }
    }

    /// Decides by another schedule, lifetime or classification.
    #[must_use]
    pub fn with_policy(self, policy: DeliveryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Vets destinations by other rules before each attempt. The transport has its own, for the addresses it connects to.
    #[must_use]
    pub fn with_address_policy(self, addresses: AddressPolicy) -> Self {
        Self { addresses, ..self }
    }

    /// Names the sender in the `User-Agent` of each message
    /// ([RFC 9110 §10.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5)), `webhook-core/0.1` unless told otherwise:
    /// receivers look for it in their logs, and some refuse a request without one. It is not signed.
    #[must_use]
    pub fn with_user_agent(self, user_agent: HeaderValue) -> Self {
        Self { user_agent, ..self }
    }

    /// Bounds each exchange, from name resolution to the last byte of the answer, to at most an hour. The transport enforces it;
    /// leases last 30 seconds longer.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self {
            deadline: deadline.min(LONGEST_DEADLINE),
            ..self
        }
    }

    /// How many exchanges are under way at a time; at least one.
    #[must_use]
    pub fn with_concurrency(self, concurrency: usize) -> Self {
        Self {
            concurrency: concurrency.max(1),
            ..self
        }
    }

    /// How many of them go to one endpoint at most, counted over all dispatchers of the outbox; at least one.
    ///
    /// An endpoint has four at first, and as many as it has [shown to bear](super::EndpointHealth) later. Keep this well below
    /// [`with_concurrency`](Self::with_concurrency): what is quick today and hangs tomorrow holds so many places.
    #[must_use]
    pub fn with_concurrency_per_endpoint(self, concurrency: usize) -> Self {
        Self {
            concurrency_per_endpoint: concurrency.max(1),
            ..self
        }
    }

    /// After how many leases in a row that end without an outcome, five as a rule, a delivery is quarantined; at least one.
    ///
    /// A delivery that crashes its dispatcher would otherwise come back forever. It is listed with the dead letters, as
    /// [`Quarantined`](super::FailureReason::Quarantined), and may be replayed.
    ///
    /// A process that dies takes everything under way with it, and the guilty one cannot be told at first. So from the third
    /// lease on a delivery is a [suspect](super::Delivery::is_suspect), of which each run has one under way at a time: with five,
    /// what is set aside was the only suspect of its run when that ended, three times in a row. A process that dies for
    /// reasons of its own sets at most one delivery aside in three deaths; one that nothing but a delivery kills sets no other
    /// aside. With two or less that protection is gone.
    #[must_use]
    pub fn with_quarantine_after(self, crashes: u32) -> Self {
        Self {
            quarantine_after: crashes.max(1),
            ..self
        }
    }

    /// Stores an event for every endpoint that subscribes to it. When this returns, it will be delivered.
    ///
    /// A host whose business data is in the same SQL store writes both in one transaction instead: see
    /// [`Enqueue::to`], and `outbox::send_in` of the stores in `examples/`.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the event may or may not be stored then, and sending it again under the same id is safe.
    pub async fn send(&self, event: impl Into<StoredEvent> + Send) -> Result<Enqueued, StoreError> {
        let event = event.into();
        let subscribers = self.endpoints.subscribers(&event.event_type).await?;
        let enqueue = Enqueue::to(event, subscribers, self.clock.now());
        self.outbox.enqueue(enqueue).await
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher")
            .field("policy", &self.policy)
            .field("deadline", &self.deadline)
            .field("concurrency", &self.concurrency)
            .field("concurrency_per_endpoint", &self.concurrency_per_endpoint)
            .finish_non_exhaustive()
    }
}
