//! Dispatcher: leases due deliveries from the outbox, sends them, and settles their outcomes.
//!
//! A [`Dispatcher`] owns no thread and no socket. The host drives it with
//! [`run`](Dispatcher::run) and a function that waits, or one pass at a time with
//! [`run_due`](Dispatcher::run_due):
//!
//! ```text
//! let wait = |next_due| select {
//!     sleep_until(next_due) => Continue,
//!     new_event.notified() => Continue,
//!     stop.requested() => Break,
//! };
//! dispatcher.run(wait, |result| log(result)).await;
//! ```
//!
//! Several dispatchers may share an outbox, in one process or in many: leases separate them.
//!
//! | end of a dispatcher | its leases are free |
//! |---|---|
//! | `run` returns after a stop | at once |
//! | the process is killed, or the future of `run` is dropped | within 15 seconds if another dispatcher runs, else 11 seconds after one starts; in an outbox without instances, when they end by time (deadline plus 30 seconds) |
//! | the future of `run_due` is dropped | when they end by time (deadline plus 30 seconds) |

mod announcements;
mod deadline;
mod exchange;
mod membership;
mod outcomes;
mod round;
mod run;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use http::HeaderValue;

use self::{announcements::Announcements, deadline::Limits};
use super::{
    AttemptOutcome, ClockSkew, DeliveryEvent, DeliveryId, DeliveryMetrics, DeliveryPolicy, Disposition,
    Endpoint, EndpointId, EndpointStore, Enqueue, Enqueued, HealthEvent, Outbox, Settled, SkewEstimator,
    StoredEvent, TraceParent, outbox::QUARANTINE_AFTER,
};
use crate::{
    address::AddressPolicy,
    event::Envelope,
    ports::{Clock, Entropy, StoreError, Timer, Transport},
};

/// Maximum deadline of an exchange, which bounds how long a lost lease blocks its delivery.
const LONGEST_DEADLINE: Duration = Duration::from_secs(3_600);

/// Default `User-Agent`.
const USER_AGENT: &str = concat!(
    "webhook-core/",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

/// Default CloudEvents source: the shortest URI reference that is not empty.
const SOURCE: &str = "/";

/// Delivers the events of an outbox, at least once.
///
/// Each delivery is leased, signed, sent, and settled under the fencing token of its lease. After a
/// crash an attempt may be repeated, but no event is lost.
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
///     ports::{OsEntropy, SystemClock, timer_fn, transport_fn},
///     secret::SigningSecret,
///     sender::{
///         Audience, Disposition, Dispatcher, Endpoint, EndpointStore, Owner, StoredEvent,
///         TenantId,
///     },
///     signature::Signer,
/// };
///
/// let endpoints = MemoryEndpoints::default();
/// let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let url = "https://example.com/hooks".parse()?;
/// let signer = Signer::standard_webhooks(&secret);
/// let acme: TenantId = "acme".parse()?;
/// let owner = Owner::Tenant(acme.clone());
/// let endpoint = Endpoint::register("ep_1".parse()?, owner, &url, signer, &AddressPolicy::new())?;
/// endpoints.insert(endpoint).await?;
///
/// // replace with the host's HTTP client
/// let transport = transport_fn(async |_: Request<Bytes>| Ok(Response::new(Bytes::new())));
/// let outbox = MemoryOutbox::default();
/// let timer = timer_fn(tokio::time::sleep);
/// let dispatcher = Dispatcher::new(outbox, endpoints, transport, SystemClock, timer, OsEntropy);
///
/// let (id, kind, version) = ("evt_1".parse()?, "charge.refunded".parse()?, "1".parse()?);
/// let event = Envelope::new(id, kind, version, SystemTime::now(), b"{}")?;
/// dispatcher.send(StoredEvent::new(event, Audience::tenant(acme))).await?;
/// let report = dispatcher.run_due().await?;
/// assert_eq!(report.handled[0].disposition, Disposition::Acked);
/// assert_eq!(report.next_due, None);
/// # Ok(())
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
/// # runtime.unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone)]
pub struct Dispatcher {
    outbox: Arc<dyn Outbox>,
    endpoints: Arc<dyn EndpointStore>,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    timer: Arc<dyn Timer>,
    entropy: Arc<dyn Entropy>,
    metrics: Option<Arc<dyn DeliveryMetrics>>,
    skew: Arc<Mutex<SkewEstimator>>,
    skew_hold: bool,
    announcements: Option<Arc<Announcements>>,
    policy: DeliveryPolicy,
    addresses: AddressPolicy,
    user_agent: HeaderValue,
    source: Arc<str>,
    deadline: Duration,
    concurrency: usize,
    concurrency_per_endpoint: usize,
    quarantine_after: u32,
}

/// Result of [`Dispatcher::run_due`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Deliveries that were leased, or became dead letters instead, in the order of their
    /// settlement.
    pub handled: Vec<Handled>,
    /// Time at which to call again; `None` if nothing becomes due before a new event is stored.
    pub next_due: Option<SystemTime>,
}

/// Result of one lease, or of a due delivery that became a dead letter instead of being leased.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Handled {
    /// Delivery that was leased or became a dead letter.
    pub delivery: DeliveryId,
    /// Outcome of the attempt; `None` if no request was sent.
    pub outcome: Option<AttemptOutcome>,
    /// Disposition of the delivery.
    pub disposition: Disposition,
    /// Result of the settlement in the outbox.
    pub settled: Settled,
    /// `true` if the endpoint was disabled, after a 410 or five days of failures.
    pub endpoint_disabled: bool,
    /// Change of the endpoint's health.
    pub health: Option<HealthEvent>,
    /// Error of the local clock, if the receiver responded with 400 or 401 because of it
    /// (`clock.skewed`). See [`Dispatcher::with_skew_hold`].
    pub skew: Option<ClockSkew>,
}

impl Dispatcher {
    /// Creates a dispatcher with these defaults:
    ///
    /// - [`DeliveryPolicy::default`] and the strict [`AddressPolicy`];
    /// - at most 512 concurrent exchanges, 64 of them per endpoint;
    /// - a deadline of 10 seconds for each exchange.
    ///
    /// `timer` is a function such as `timer_fn(tokio::time::sleep)`. It enforces a time limit on
    /// each port call: 20 seconds for the outbox, 10 for the endpoint store, 3 for a heartbeat, and
    /// the deadline plus 2 seconds for the transport.
    ///
    /// An `Arc` of a port implements the port too.
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "one for each port")]
    pub fn new(
        outbox: impl Outbox + 'static,
        endpoints: impl EndpointStore + 'static,
        transport: impl Transport + 'static,
        clock: impl Clock + 'static,
        timer: impl Timer + 'static,
        entropy: impl Entropy + 'static,
    ) -> Self {
        Self {
            outbox: Arc::new(outbox),
            endpoints: Arc::new(endpoints),
            transport: Arc::new(transport),
            clock: Arc::new(clock),
            timer: Arc::new(timer),
            entropy: Arc::new(entropy),
            metrics: None,
            skew: Arc::default(),
            skew_hold: false,
            announcements: None,
            policy: DeliveryPolicy::default(),
            addresses: AddressPolicy::new(),
            user_agent: HeaderValue::from_static(USER_AGENT),
            source: SOURCE.into(),
            deadline: Duration::from_secs(10),
            concurrency: 512,
            concurrency_per_endpoint: 64,
            quarantine_after: QUARANTINE_AFTER,
        }
    }

    /// Sets schedule, lifetime and classification.
    #[must_use]
    pub fn with_policy(self, policy: DeliveryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Sets the address rules for destination URLs, which are checked before each attempt.
    ///
    /// The transport has its own rules for the addresses that it connects to.
    #[must_use]
    pub fn with_address_policy(self, addresses: AddressPolicy) -> Self {
        Self { addresses, ..self }
    }

    /// Sets the `User-Agent` of each message ([RFC 9110
    /// §10.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5)). Default:
    /// `webhook-core/0.1`.
    ///
    /// Receivers search their logs for it, and some refuse requests without it. It is not signed.
    #[must_use]
    pub fn with_user_agent(self, user_agent: HeaderValue) -> Self {
        Self { user_agent, ..self }
    }

    /// Sets the attribute `source` of [CloudEvents](super::ContentMode): a URI reference that
    /// identifies the host, such as `https://api.example.com`. Default: `/`.
    #[must_use]
    pub fn with_source(self, source: &str) -> Self {
        Self {
            source: source.into(),
            ..self
        }
    }

    /// Sets the deadline of an exchange, from name resolution to the last byte of the response.
    /// Default: 10 seconds; maximum: 1 hour.
    ///
    /// The transport enforces the deadline. Leases without an owner last 30 seconds longer.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self {
            deadline: deadline.min(LONGEST_DEADLINE),
            ..self
        }
    }

    /// Sets the maximum number of concurrent exchanges. Default: 512; minimum: 1.
    ///
    /// The places are divided into [bulkheads](super::Places): endpoints whose last exchange timed
    /// out use at most an eighth.
    #[must_use]
    pub fn with_concurrency(self, concurrency: usize) -> Self {
        Self {
            concurrency: concurrency.max(1),
            ..self
        }
    }

    /// Sets the maximum number of concurrent exchanges per endpoint, over all dispatchers of the
    /// outbox. Default: 64; minimum: 1.
    ///
    /// An endpoint starts with 4 and gets more as its [health](super::EndpointHealth) allows.
    #[must_use]
    pub fn with_concurrency_per_endpoint(self, concurrency: usize) -> Self {
        Self {
            concurrency_per_endpoint: concurrency.max(1),
            ..self
        }
    }

    /// Sets the number of consecutive lost leases after which a delivery is quarantined. Default:
    /// 5; minimum: 1.
    ///
    /// A delivery that crashes its dispatchers would otherwise be leased again and again. A
    /// quarantined delivery is a dead letter with the reason
    /// [`Quarantined`](super::FailureReason::Quarantined) and can be replayed.
    ///
    /// When a process crashes, all its deliveries lose their leases, so the first crashes do not
    /// show their cause. After two lost leases a delivery is a
    /// [suspect](super::Delivery::is_suspect), and a dispatcher holds one suspect at a time. With
    /// the default of 5, a quarantined delivery was the only suspect in three consecutive crashes.
    /// Crashes with another cause quarantine at most one delivery in three crashes. With 1 or 2, a
    /// delivery can be quarantined for crashes that another one caused.
    #[must_use]
    pub fn with_quarantine_after(self, crashes: u32) -> Self {
        Self {
            quarantine_after: crashes.max(1),
            ..self
        }
    }

    /// Sends metrics to this hook.
    #[must_use]
    pub fn with_metrics(self, metrics: impl DeliveryMetrics + 'static) -> Self {
        Self {
            metrics: Some(Arc::new(metrics)),
            ..self
        }
    }

    /// Holds a delivery whose receiver responds with 400 or 401 while the [`SkewEstimator`]
    /// confirms an error of the local clock. Default: off.
    ///
    /// - *Off*: the response is a permanent failure. The delivery stays replayable, and
    ///   [`Handled::skew`] and [`DeliveryEvent::ClockSkewed`] tell the operator.
    /// - *On*: the endpoint is held for 60 seconds at a time, and no attempt is counted. At the end
    ///   of its lifetime the delivery is a dead letter. An [undecided](SkewEstimator::is_undecided)
    ///   error holds the endpoint too, so that deliveries do not fail before enough hosts were
    ///   observed. The end of a hold is computed with the wrong clock: if that clock was ahead, the
    ///   hold lasts until the corrected clock has reached this time.
    #[must_use]
    pub fn with_skew_hold(self) -> Self {
        Self {
            skew_hold: true,
            ..self
        }
    }

    fn record(&self, event: &DeliveryEvent<'_>) {
        if let Some(metrics) = &self.metrics {
            // the panic hook has reported the panic; metrics must not stop deliveries
            drop(catch_unwind(AssertUnwindSafe(|| metrics.record(event))));
        }
    }

    /// Stores an event with a delivery for each endpoint of its audience that subscribes to it.
    /// After this call returns, the event will be delivered.
    ///
    /// A host whose business data is in the same SQL store writes both in one transaction instead:
    /// see [`Enqueue::to`], and `outbox::send_in` of the stores in `examples/`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown: the event may be stored. A retry with the same id
    /// is safe.
    pub async fn send(&self, event: StoredEvent) -> Result<Enqueued, StoreError> {
        let subscribers = self.endpoints.subscribers(&event.event_type, &event.audience);
        let subscribers = self.within(Limits::LOAD, subscribers).await?;
        self.enqueue(event, subscribers).await
    }

    /// Stores an event for one endpoint, whatever its filter, such as a test event that an operator
    /// asks for.
    ///
    /// The audience of the event is the owner of the endpoint. `trace` is that of
    /// [`StoredEvent::trace`].
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown, as for [`send`](Self::send).
    pub async fn send_to(
        &self,
        endpoint: &Endpoint,
        event: Envelope,
        trace: Option<TraceParent>,
    ) -> Result<Enqueued, StoreError> {
        let event = StoredEvent::new(event, endpoint.owner.clone().into());
        self.enqueue(event.in_trace(trace), vec![endpoint.id.clone()])
            .await
    }

    async fn enqueue(&self, event: StoredEvent, endpoints: Vec<EndpointId>) -> Result<Enqueued, StoreError> {
        let enqueue = Enqueue::to(event, endpoints, self.clock.now());
        self.within(Limits::VERB, self.outbox.enqueue(enqueue)).await
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
