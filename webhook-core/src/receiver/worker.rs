//! Worker: takes events from the inbox, runs the work of the host, and ends each lease.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use thiserror::Error;

use super::{Fenced, Finish, Inbox, Queued, Receipt, WorkDecision, WorkPolicy};
use crate::ports::{Clock, Entropy, StoreError};

/// Default of [`Worker::with_lease`].
const LEASE: Duration = Duration::from_secs(60);

/// Worker of an [`Inbox`]: takes events, runs the work of the host on each, and acknowledges,
/// retries or buries the event. Effects outside the database of the inbox may run again: if the
/// process crashes, the event is taken again after its lease.
///
/// | method | rows of the work | after a crash |
/// |---|---|---|
/// | [`run_in_transaction`](Self::run_in_transaction) | in the database of the inbox, in one transaction with the acknowledgement | the rows of each event are written exactly once |
/// | [`run`](Self::run) | anywhere | the work may run twice, so it must be idempotent |
///
/// A worker has no loop and no timer: the host calls [`take`](Self::take) when events may have
/// arrived, for example once a second, and runs the events in any number of tasks. Clones share all
/// state.
///
/// # Examples
///
/// ```
/// use webhook_core::{
///     memory::MemoryInbox,
///     ports::{OsEntropy, SystemClock},
///     receiver::{Queued, WorkFailure, WorkOutcome, Worker},
/// };
/// # use std::time::{Duration, SystemTime};
/// # use webhook_core::receiver::{BodyDigest, Dedupe, EventKey, Incoming};
///
/// async fn print(event: &Queued) -> Result<(), WorkFailure> {
///     println!("{}: {} bytes", event.ticket.key.id, event.body.len());
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inbox = MemoryInbox::default();
/// # let key = EventKey { source: "s".to_owned(), id: "evt_1".parse()? };
/// # let (body, now) = (bytes::Bytes::from_static(b"{}"), SystemTime::now());
/// # let expires_at = now + Duration::from_secs(60);
/// # let incoming = Incoming { key, digest: BodyDigest::compute(&body), body, expires_at };
/// # inbox.claim_and_enqueue(incoming, now).await?;
/// let worker = Worker::new(inbox, SystemClock, OsEntropy);
/// for event in worker.take(16).await? {
///     let outcome = worker.run(&event, print(&event)).await?;
///     assert_eq!(outcome, WorkOutcome::Done);
/// }
/// assert!(worker.take(16).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Worker {
    inbox: Arc<dyn Inbox>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    lease: Duration,
    policy: WorkPolicy,
}

impl Worker {
    /// Creates a worker with leases of 60 s and the default [`WorkPolicy`]. `entropy` varies the
    /// pauses between attempts.
    #[must_use]
    pub fn new(
        inbox: impl Inbox + 'static,
        clock: impl Clock + 'static,
        entropy: impl Entropy + 'static,
    ) -> Self {
        Self {
            inbox: Arc::new(inbox),
            clock: Arc::new(clock),
            entropy: Arc::new(entropy),
            lease: LEASE,
            policy: WorkPolicy::default(),
        }
    }

    /// Sets the lease: the time in which the events of one [`take`](Self::take) must be handled.
    /// After the lease another worker can take them.
    #[must_use]
    pub fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the policy for failed work.
    #[must_use]
    pub fn with_policy(mut self, policy: WorkPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Takes up to `limit` events under a lease, oldest first. The host runs each of them.
    ///
    /// A crash of the process counts as an attempt of every event that it holds. A small `limit`
    /// therefore protects other events from one that crashes its worker.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. If the store leased events before it failed, they can be
    /// taken again after the lease.
    pub async fn take(&self, limit: usize) -> Result<Vec<Queued>, StoreError> {
        self.inbox.take(limit, self.clock.now(), self.lease).await
    }

    /// Runs `work` on an event, then acknowledges the event.
    ///
    /// An event without attempts left is buried, and its work does not run: the earlier attempts
    /// crashed, or were slower than their leases.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The event is then taken again after its lease.
    pub async fn run(
        &self,
        event: &Queued,
        work: impl Future<Output = Result<(), WorkFailure>>,
    ) -> Result<WorkOutcome, StoreError> {
        if self.policy.is_exhausted(event.attempt) {
            return self.bury_exhausted(event).await;
        }
        match work.await {
            Ok(()) => Ok(outcome(
                self.inbox.finish(&event.ticket).await?,
                WorkOutcome::Done,
            )),
            Err(failure) => self.end(event, failure).await,
        }
    }

    /// Like [`run`](Self::run), for work that acknowledges the event in the transaction that writes
    /// its rows. The rows and the acknowledgement take effect together, or not at all.
    ///
    /// In the transaction, `inbox::complete_in` of `host-store-sqlite` or `host-store-postgres`
    /// acknowledges the event.
    ///
    /// # Contract
    ///
    /// - The work writes its rows in one transaction, in the database of the inbox. Its other
    ///   effects, for example calls of another service, may happen again after a crash.
    /// - In this transaction it acknowledges the event. If that fails with [`Fenced`], another
    ///   worker may have taken the event: the work rolls back and returns the error.
    /// - It returns the receipt after the commit. The worker does not acknowledge again.
    /// - If the result of the commit is unknown, it returns [`WorkFailure::Temporary`]. If the
    ///   transaction has committed, the event has left the queue, and nothing changes
    ///   ([`WorkOutcome::Stale`]). Otherwise the event is retried.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run), and [`StoreError`] if the receipt belongs to another event.
    pub async fn run_in_transaction(
        &self,
        event: &Queued,
        work: impl Future<Output = Result<Receipt, WorkFailure>>,
    ) -> Result<WorkOutcome, StoreError> {
        if self.policy.is_exhausted(event.attempt) {
            return self.bury_exhausted(event).await;
        }
        match work.await {
            Ok(receipt) if receipt.belongs_to(&event.ticket) => Ok(WorkOutcome::Done),
            Ok(_) => Err(StoreError::corrupt("the receipt belongs to another event")),
            Err(failure) => self.end(event, failure).await,
        }
    }

    async fn bury_exhausted(&self, event: &Queued) -> Result<WorkOutcome, StoreError> {
        let reason = format!(
            "{} attempts crashed or outlived their leases",
            event.attempt.saturating_sub(1)
        );
        self.bury(event, reason).await
    }

    /// Retries or buries an event whose work failed.
    async fn end(&self, event: &Queued, failure: WorkFailure) -> Result<WorkOutcome, StoreError> {
        let reason = match failure {
            WorkFailure::Temporary(reason) => reason,
            WorkFailure::Permanent(reason) => return self.bury(event, reason).await,
        };
        let mut jitter = [0; 8];
        self.entropy.fill(&mut jitter);
        match self
            .policy
            .after_failure(event.attempt, u64::from_le_bytes(jitter))
        {
            WorkDecision::Retry { after } => {
                let now = self.clock.now();
                let at = now.checked_add(after).unwrap_or(now);
                let finish = self.inbox.retry_at(&event.ticket, at).await?;
                Ok(outcome(finish, WorkOutcome::Retried { at, reason }))
            }
            WorkDecision::Bury => self.bury(event, reason).await,
        }
    }

    async fn bury(&self, event: &Queued, reason: String) -> Result<WorkOutcome, StoreError> {
        let finish = self.inbox.bury(&event.ticket, &reason, self.clock.now()).await?;
        Ok(outcome(finish, WorkOutcome::Buried { reason }))
    }
}

/// Returns `done`, or [`WorkOutcome::Stale`] if the lease was not the latest one.
fn outcome(finish: Finish, done: WorkOutcome) -> WorkOutcome {
    match finish {
        Finish::Done => done,
        Finish::Stale => WorkOutcome::Stale,
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("lease", &self.lease)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Failure of the work on an event, with its reason for operators. A dead letter keeps the reason,
/// so it must contain no secret.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further attempt may succeed, or it cannot"
)]
pub enum WorkFailure {
    /// Another attempt may succeed. The [`WorkPolicy`] decides between a retry and burying.
    #[error("{0}")]
    Temporary(String),
    /// No attempt can succeed, for example because the event cannot be parsed. The event is buried.
    #[error("{0}")]
    Permanent(String),
}

impl From<Fenced> for WorkFailure {
    fn from(fenced: Fenced) -> Self {
        Self::Temporary(fenced.to_string())
    }
}

impl From<StoreError> for WorkFailure {
    fn from(error: StoreError) -> Self {
        Self::Temporary(error.to_string())
    }
}

/// Result of [`Worker::run`] and [`Worker::run_in_transaction`], for logs and metrics.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WorkOutcome {
    /// The work succeeded, and the event left the queue.
    Done,
    /// The work failed for now. The event can be taken again at this time.
    Retried {
        /// Time from which the event can be taken.
        at: SystemTime,
        /// Reason of the failure.
        reason: String,
    },
    /// The work failed for good. The event is a dead letter.
    Buried {
        /// Reason of the failure.
        reason: String,
    },
    /// The worker changed nothing: another worker has taken the event, or the event had already
    /// left the queue, for example in a transaction whose result the work did not learn.
    Stale,
}
