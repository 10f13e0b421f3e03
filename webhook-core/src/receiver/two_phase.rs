//! Claiming where the queue is another system: a claim under a lease first, then the queue, then the note that it is there.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use super::{BodyDigest, Claim, Dedupe, EventKey, Incoming};
use crate::ports::StoreError;

/// Keeps claims of events that are queued elsewhere.
///
/// # What an implementation must guarantee
///
/// - [`begin`](Self::begin) is one atomic step, durable before it answers: of any number of simultaneous calls for one key,
///   over all processes, exactly one is [`Begun::Claimed`].
/// - A claim lives while `now < expires_at` of its event, queued or not. One that is not [noted as queued](Self::queued) may be
///   begun again with the same body once its lease is over: from `now == until` on.
/// - Another body under a live claim is a [`Begun::Conflict`], queued or not. Only [`Begun::Claimed`] writes anything.
/// - Keys are compared byte for byte.
///
/// The kit `claims!` of `webhook-core-conformance` checks this.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Claims `event` for `lease`, if nobody has, or whoever had let the lease pass without having it noted as queued.
    ///
    /// # Errors
    ///
    /// When the store cannot say what happened.
    async fn begin(&self, event: &Incoming, now: SystemTime, lease: Duration) -> Result<Begun, StoreError>;

    /// Notes that the event with this key and body is in the queue. Nothing changes where there is no such claim.
    ///
    /// It asks for no right: the one whose lease is over may say it too, since its event is in the queue all the same.
    ///
    /// # Errors
    ///
    /// When the store cannot say what happened. May be repeated.
    async fn queued(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: Claims + ?Sized> Claims for Arc<S> {
    async fn begin(&self, event: &Incoming, now: SystemTime, lease: Duration) -> Result<Begun, StoreError> {
        (**self).begin(event, now, lease).await
    }

    async fn queued(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        (**self).queued(key, digest).await
    }
}

/// What became of a claim that was to be begun.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Begun {
    /// It is the caller's to queue, within its lease.
    Claimed,
    /// It had been claimed with the same body, and is in the queue.
    Duplicate,
    /// It had been claimed with another body.
    Conflict,
    /// Another delivery of the same body has it, and has not queued it yet.
    Pending {
        /// The first instant at which it may be begun again.
        until: SystemTime,
    },
}

/// The queue of another system, as a broker is.
///
/// # What an implementation must guarantee
///
/// - What is pushed is durable before it answers.
/// - An event that was pushed twice may be delivered twice: after a crash at the wrong moment it is. A queue that knows the
///   [key](Incoming::key) of what it has leaves it at one.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts the event into the queue.
    ///
    /// # Errors
    ///
    /// When the queue cannot say that it has it. It is pushed again, once the lease of its claim is over.
    async fn push(&self, event: &Incoming) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: Queue + ?Sized> Queue for Arc<S> {
    async fn push(&self, event: &Incoming) -> Result<(), StoreError> {
        (**self).push(event).await
    }
}

/// A [`Dedupe`] over [`Claims`] and a [`Queue`] that no transaction spans.
///
/// A crash anywhere loses nothing: until the queue has an event, its repetitions are [`Claim::Pending`] (503 with `Retry-After`),
/// so that the sender comes again; after the lease the event is queued anew. A crash between the queue and the note makes it
/// stand there twice: the work must be idempotent, as it must be for any [`Inbox`](super::Inbox).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use webhook_core::{memory::MemoryClaims, ports::{StoreError, SystemClock}, receiver::{ClaimThenQueue, Incoming, Queue, Receiver, Verifier},
///     secret::SigningSecret};
///
/// struct Broker; // a host's own
///
/// #[async_trait::async_trait]
/// impl Queue for Broker {
///     async fn push(&self, event: &Incoming) -> Result<(), StoreError> {
///         println!("{}: {} bytes", event.key.id, event.body.len());
///         Ok(())
///     }
/// }
///
/// let dedupe = ClaimThenQueue::new(MemoryClaims::default(), Broker, Duration::from_secs(30));
/// let verifier = Verifier::standard_webhooks(SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?);
/// let receiver = Receiver::builder("payments", verifier, dedupe, SystemClock).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ClaimThenQueue {
    claims: Arc<dyn Claims>,
    queue: Arc<dyn Queue>,
    lease: Duration,
}

impl ClaimThenQueue {
    /// Claims for `lease`, which is longer than a push may take: one that takes longer may be made twice at a time.
    #[must_use]
    pub fn new(claims: impl Claims + 'static, queue: impl Queue + 'static, lease: Duration) -> Self {
        Self {
            claims: Arc::new(claims),
            queue: Arc::new(queue),
            lease,
        }
    }
}

#[async_trait]
impl Dedupe for ClaimThenQueue {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        match self.claims.begin(&event, now, self.lease).await? {
            Begun::Claimed => {
                self.queue.push(&event).await?;
                self.claims.queued(&event.key, &event.digest).await?;
                Ok(Claim::Enqueued)
            }
            Begun::Duplicate => Ok(Claim::Duplicate),
            Begun::Conflict => Ok(Claim::Conflict),
            Begun::Pending { until } => {
                let retry_after = until.duration_since(now).unwrap_or_default();
                Ok(Claim::Pending { retry_after })
            }
        }
    }
}

impl fmt::Debug for ClaimThenQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimThenQueue")
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}
