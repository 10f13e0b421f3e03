//! Two-phase claims: claim an event with a lease, queue or handle it elsewhere, complete the claim.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use super::{BodyDigest, Claim, Dedupe, EventKey, Incoming};
use crate::ports::StoreError;

/// Store of claims for events that are queued in another system, or handled within their request.
///
/// # Contract
///
/// - [`begin`](Self::begin) is one atomic step and durable before it returns. Of any number of
///   concurrent calls for one unclaimed key, in all processes, exactly one returns
///   [`BeginOutcome::Claimed`].
/// - A claim is valid while `now < expires_at` of its event, whether or not it is complete. A claim
///   that is not [complete](Self::complete) can be taken over after its lease, that is at
///   `now >= until`, by a delivery with the same digest.
/// - Another digest under a valid claim returns [`BeginOutcome::Conflict`], whether or not the
///   claim is complete.
/// - Only [`BeginOutcome::Claimed`] writes.
/// - Keys are compared byte for byte.
///
/// The kit `claims!` of `webhook-core-conformance` checks these rules.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Claims `event` for `lease`, if it is unclaimed, or its claim is not complete and its lease
    /// has ended.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown.
    async fn begin(
        &self,
        event: &Incoming,
        now: SystemTime,
        lease: Duration,
    ) -> Result<BeginOutcome, StoreError>;

    /// Completes the claim of this key and digest, because the event is queued or handled. Without
    /// such a claim nothing changes.
    ///
    /// A call after the end of the lease works too: the event is queued or handled nevertheless.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. The call may be retried.
    async fn complete(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: Claims + ?Sized> Claims for Arc<S> {
    async fn begin(
        &self,
        event: &Incoming,
        now: SystemTime,
        lease: Duration,
    ) -> Result<BeginOutcome, StoreError> {
        (**self).begin(event, now, lease).await
    }

    async fn complete(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        (**self).complete(key, digest).await
    }
}

/// Result of [`Claims::begin`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BeginOutcome {
    /// The caller holds the claim, and must queue or handle the event before the lease ends.
    Claimed,
    /// Duplicate: the claim has the same digest and is complete.
    Duplicate,
    /// Conflict: the claim has another digest.
    Conflict,
    /// Another delivery with the same digest holds the claim and has not completed it yet.
    Pending {
        /// First instant at which a delivery with the same digest can take over the claim.
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
///   idempotent.
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
            BeginOutcome::Claimed => {
                self.queue.push(&event).await?;
                self.claims.complete(&event.key, &event.digest).await?;
                Ok(Claim::Enqueued)
            }
            BeginOutcome::Duplicate => Ok(Claim::Duplicate),
            BeginOutcome::Conflict => Ok(Claim::Conflict),
            BeginOutcome::Pending { until } => {
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
