//! Two-phase claim for a queue in another system: claim with a lease, push to the queue, confirm.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use super::{BodyDigest, Claim, Dedupe, EventKey, Incoming};
use crate::ports::StoreError;

/// Store of claims for events that are queued in another system.
///
/// # Contract
///
/// - [`begin`](Self::begin) is one atomic step and durable before it returns. Of any number of
///   concurrent calls for one unclaimed key, in all processes, exactly one returns
///   [`Begun::Claimed`].
/// - A claim is valid while `now < expires_at` of its event, whether or not the event is queued. If
///   it was not [marked as queued](Self::mark_queued), the same body can be claimed again after its
///   lease, that is at `now >= until`.
/// - Another body under a valid claim returns [`Begun::Conflict`], whether or not the event is
///   queued.
/// - Only [`Begun::Claimed`] writes.
/// - Keys are compared byte for byte.
///
/// The kit `claims!` of `webhook-core-conformance` checks these rules.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Claims `event` for `lease`, if it is unclaimed, or its claim was not marked as queued and
    /// its lease has ended.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown.
    async fn begin(&self, event: &Incoming, now: SystemTime, lease: Duration) -> Result<Begun, StoreError>;

    /// Marks the claim of this key and body as queued. Without such a claim nothing changes.
    ///
    /// A call after the end of the lease works too, because the event is in the queue.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. The call may be retried.
    async fn mark_queued(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: Claims + ?Sized> Claims for Arc<S> {
    async fn begin(&self, event: &Incoming, now: SystemTime, lease: Duration) -> Result<Begun, StoreError> {
        (**self).begin(event, now, lease).await
    }

    async fn mark_queued(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        (**self).mark_queued(key, digest).await
    }
}

/// Result of [`Claims::begin`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Begun {
    /// The caller holds the claim and must queue the event before the lease ends.
    Claimed,
    /// Duplicate: the event was claimed with the same body and is queued.
    Duplicate,
    /// Conflict: the event was claimed with another body.
    Conflict,
    /// Another delivery of the same body holds the claim and has not queued the event yet.
    Pending {
        /// First instant at which the same body can be claimed again.
        until: SystemTime,
    },
}

/// Queue in another system, such as a message broker.
///
/// # Contract
///
/// - A pushed event is durable before [`push`](Self::push) returns.
/// - An event may be pushed twice, after a crash between the push and the confirmation. A queue
///   that deduplicates by [`Incoming::key`] delivers it once; another queue may deliver it twice.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts the event into the queue.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the queue did not confirm the event. After the lease of the claim, a retry
    /// of the sender pushes the event again.
    async fn push(&self, event: &Incoming) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: Queue + ?Sized> Queue for Arc<S> {
    async fn push(&self, event: &Incoming) -> Result<(), StoreError> {
        (**self).push(event).await
    }
}

/// [`Dedupe`] over [`Claims`] and a [`Queue`] that share no transaction.
///
/// A crash at any point loses no event:
///
/// - Before the queue has the event, a duplicate gets [`Claim::Pending`] (503 with `Retry-After`),
///   so the sender retries. After the lease the retry queues the event.
/// - After a crash between push and confirmation the event is queued twice. The work must be
///   idempotent, as for every [`Inbox`](super::Inbox).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use webhook_core::{
///     memory::MemoryClaims,
///     ports::{StoreError, SystemClock},
///     receiver::{ClaimThenQueue, Incoming, Queue, Receiver, Verifier},
///     secret::SigningSecret,
/// };
///
/// struct Broker; // replace with the host's broker
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
/// let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let verifier = Verifier::standard_webhooks(secret);
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
    /// Creates the store. `lease` is the lifetime of an unconfirmed claim.
    ///
    /// Choose a `lease` longer than the slowest push. A push that outlives it may run twice at the
    /// same time.
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
                self.claims.mark_queued(&event.key, &event.digest).await?;
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
