//! Receiver for events that are handled within their request.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderName, Request, Response, request::Parts};
use serde::de::DeserializeOwned;

use super::{
    BeginOutcome, Claims, Incoming, ReceiveOutcome, ReceiverBuilder, Verify,
    admission::{Admission, Settings},
};
use crate::{event::EventId, ports::Clock};

/// Default of [`ReceiverBuilder::with_lease`].
const LEASE: Duration = Duration::from_secs(30);

/// Receives the webhooks of one sender for a handler that does its work within the request.
///
/// The handler calls [`accept`](Self::accept), does its work, and calls [`ClaimedEvent::finish`].
/// Responses are those of [`Receiver`](super::Receiver). Clones share all state.
///
/// - A duplicate of a finished event gets 204 and does not reach the handler.
/// - A duplicate that arrives while the handler works gets 503 with `Retry-After`.
/// - If the handler fails or the process crashes, the claim ends after its
///   [lease](ReceiverBuilder::with_lease), and the sender's next retry reaches the handler again.
///   So the work must be idempotent.
///
/// Most senders wait for 5 to 10 seconds. Longer work belongs in a worker: use
/// [`Receiver`](super::Receiver) and its [`Inbox`](super::Inbox).
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use webhook_core::{
///     memory::MemoryClaims,
///     ports::SystemClock,
///     receiver::{Intake, providers},
/// };
///
/// async fn webhook(intake: &Intake, request: Request<Bytes>) -> Response<Bytes> {
///     let event = match intake.accept(request).await {
///         Ok(event) => event,
///         Err(response) => return response,
///     };
///     println!("{}: {} bytes", event.id(), event.body().len());
///     event.finish().await
/// }
///
/// let verifier = providers::STRIPE.verifier(["whsec_a_secret_of_the_dashboard"])?;
/// let intake = Intake::builder("stripe", verifier, MemoryClaims::default(), SystemClock).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Intake(Arc<Settings<LeasedClaims>>);

/// Claims with the length of their lease.
pub struct LeasedClaims {
    claims: Arc<dyn Claims>,
    pub(super) lease: Duration,
}

impl fmt::Debug for LeasedClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedClaims")
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

impl Intake {
    /// Creates a builder for the sender that the host names `source`; `claims` detects duplicates.
    pub fn builder(
        source: &str,
        verifier: impl Verify + 'static,
        claims: impl Claims + 'static,
        clock: impl Clock + 'static,
    ) -> ReceiverBuilder<LeasedClaims> {
        let claims = LeasedClaims {
            claims: Arc::new(claims),
            lease: LEASE,
        };
        ReceiverBuilder::new(source, Arc::new(verifier), claims, Arc::new(clock))
    }

    /// Verifies and claims an event.
    ///
    /// # Errors
    ///
    /// The response for the sender, if there is nothing to handle: the request is not verified, is
    /// a handshake or a duplicate, or the store failed. A [`ReceiveOutcome`] in its extensions has
    /// the reason.
    pub async fn accept(&self, request: Request<Bytes>) -> Result<ClaimedEvent, Response<Bytes>> {
        let (head, body) = request.into_parts();
        let event = match self.0.admit(&head, &body).await {
            Admission::Event(event) => event,
            Admission::Answered(response) => return Err(response),
        };
        let (now, store) = (self.0.clock.now(), &self.0.store);
        let outcome = match store.claims.begin(&event, now, store.lease).await {
            Ok(BeginOutcome::Claimed) => {
                let intake = self.clone();
                return Ok(ClaimedEvent { intake, head, event });
            }
            Ok(BeginOutcome::Duplicate) => ReceiveOutcome::Duplicate,
            Ok(BeginOutcome::Conflict) => ReceiveOutcome::Conflict,
            Ok(BeginOutcome::Pending { until }) => ReceiveOutcome::Pending {
                retry_after: until.duration_since(now).unwrap_or_default(),
            },
            Err(error) => return Err(self.0.failed(&error)),
        };
        Err(self.0.response(outcome))
    }

    /// Maximum size of a body in bytes.
    #[must_use]
    pub fn body_limit(&self) -> usize {
        self.0.body_limit
    }

    /// Response to a request whose body is over the limit, for a host that does not read such a
    /// body to its end.
    #[must_use]
    pub fn too_large(&self) -> Response<Bytes> {
        self.0.response(ReceiveOutcome::TooLarge)
    }

    pub(super) fn new(settings: Settings<LeasedClaims>) -> Self {
        Self(Arc::new(settings))
    }
}

/// Verified event that the caller claimed and handles now.
///
/// Without [`finish`](Self::finish) the sender's next retry after the lease is handled again.
#[derive(Debug)]
#[must_use = "an event without `finish` is handled again"]
pub struct ClaimedEvent {
    intake: Intake,
    head: Parts,
    event: Incoming,
}

impl ClaimedEvent {
    /// Id of the event; see [`Verified::authenticated_id`](super::Verified::authenticated_id).
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.event.key.id
    }

    /// Exact bytes that were verified.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.event.body
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    ///
    /// The body is not JSON of this type. An event that will never parse should be
    /// [finished](Self::finish) too, or the sender repeats it.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.event.body)
    }

    /// Header of the request, such as `x-github-event`.
    ///
    /// # Security
    ///
    /// Most senders sign no headers: an attacker who gets a message can send it with other headers,
    /// as long as the event is not finished.
    #[must_use]
    pub fn unsigned_header(&self, name: &HeaderName) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    /// Records that the event was handled. Returns 204, or 503 if the store failed: the sender then
    /// repeats the event.
    pub async fn finish(self) -> Response<Bytes> {
        let settings = &self.intake.0;
        let (key, digest) = (&self.event.key, &self.event.digest);
        match settings.store.claims.complete(key, digest).await {
            Ok(()) => settings.response(ReceiveOutcome::Handled),
            Err(error) => settings.failed(&error),
        }
    }
}
