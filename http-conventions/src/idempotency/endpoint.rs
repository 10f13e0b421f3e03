//! Middleware that parses the key, claims it, runs the handler, and settles the request.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use super::{
    AfterCrash, Claim, ClaimOutcome, Fingerprint, HeldKey, IdempotencyKey, IdempotencyStore, IntoReply,
    InvalidIdempotencyKey, KeyScope, RecordKey, Reply, fences::Fences,
};
use crate::{
    errors::{Problem, ProblemBase, types},
    ports::{Clock, Entropy, StoreError},
    versions::ApiVersion,
};

/// Longest lease and lifetime, 100 years, so that adding it to the current time cannot overflow.
const LONGEST_TIME: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Middleware that makes handlers idempotent by `Idempotency-Key`. Cheap to clone.
#[derive(Clone)]
pub struct Idempotency {
    pub(super) store: Arc<dyn IdempotencyStore>,
    pub(super) clock: Arc<dyn Clock>,
    fences: Arc<Fences>,
    pub(super) failure_log: Arc<dyn Fn(&StoreError) + Send + Sync>,
    pub(super) problems: ProblemBase,
    pub(super) mismatch_status: MismatchStatus,
    after_crash: AfterCrash,
    key_required: bool,
    lease: Duration,
    pub(super) lifetime: Duration,
    pub(super) max_stored_body: usize,
}

/// Status for a key that was used with a different request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the draft uses 422, common APIs 409")]
pub enum MismatchStatus {
    /// 409, the default.
    #[default]
    Conflict,
    /// 422, as in the IETF draft.
    UnprocessableContent,
}

impl Idempotency {
    /// Creates the middleware over a store.
    ///
    /// `problems` is the base of its problem types. `entropy` is read once, to seed the fencing
    /// tokens.
    ///
    /// | setting | default |
    /// |---|---|
    /// | lease of a running request | 60 s |
    /// | lifetime of a record | 24 h |
    /// | stored body | up to 1 MiB |
    /// | key | optional |
    #[must_use]
    pub fn new(
        store: impl IdempotencyStore + 'static,
        clock: impl Clock + 'static,
        entropy: &dyn Entropy,
        problems: ProblemBase,
    ) -> Self {
        Self {
            store: Arc::new(store),
            clock: Arc::new(clock),
            fences: Arc::new(Fences::new(entropy)),
            failure_log: Arc::new(|_| {}),
            problems,
            mismatch_status: MismatchStatus::default(),
            after_crash: AfterCrash::default(),
            key_required: false,
            lease: Duration::from_secs(60),
            lifetime: Duration::from_secs(24 * 60 * 60),
            max_stored_body: 1 << 20,
        }
    }

    /// Requires a key: an unsafe request without a key gets 400. By default a request without a key
    /// runs without idempotency.
    #[must_use]
    pub fn with_key_required(mut self) -> Self {
        self.key_required = true;
        self
    }

    /// Sets the status for a key that was used with a different request, default 409.
    #[must_use]
    pub fn with_mismatch_status(mut self, status: MismatchStatus) -> Self {
        self.mismatch_status = status;
        self
    }

    /// Sets the behaviour for retries of a request that crashed, default [`AfterCrash::Refuse`].
    ///
    /// # Security
    ///
    /// If the first run is slower than its lease, [`AfterCrash::RunAgain`] lets a retry run the
    /// handler a second time.
    #[must_use]
    pub fn with_after_crash(mut self, after_crash: AfterCrash) -> Self {
        self.after_crash = after_crash;
        self
    }

    /// Sets the lease: the time in which a handler must finish, default 60 s. After the lease the
    /// request counts as crashed.
    #[must_use]
    pub fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the lifetime of a record after its request is settled, default 24 h.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets the largest response body to store, in bytes, default 1 MiB. A larger response is sent
    /// once; a retry gets 409 `idempotency-result-not-replayable`.
    #[must_use]
    pub fn with_max_stored_body(mut self, bytes: usize) -> Self {
        self.max_stored_body = bytes;
        self
    }

    /// Sets a callback for every failure of the store. By default failures are not logged.
    ///
    /// Responses do not show the cause. If the handler has not run, the request gets 503 or 500. If
    /// the handler has run, the request gets the handler's response.
    #[must_use]
    pub fn with_failure_log(mut self, log: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.failure_log = Arc::new(log);
        self
    }

    /// Returns `true` if an unsafe request without a key is refused.
    pub(crate) const fn is_key_required(&self) -> bool {
        self.key_required
    }

    /// Status for a key that was used with a different request.
    pub(crate) const fn mismatch_status(&self) -> StatusCode {
        match self.mismatch_status {
            MismatchStatus::Conflict => StatusCode::CONFLICT,
            MismatchStatus::UnprocessableContent => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// Base of the problem types.
    pub(crate) const fn problems(&self) -> &ProblemBase {
        &self.problems
    }

    /// Runs the handler, or replays the stored response of an earlier run.
    ///
    /// # Contract
    ///
    /// - The handler of an unsafe request with a key runs only if the request has claimed the key.
    /// - A request with a safe method runs without idempotency. So does a request without a key,
    ///   unless a key is required.
    /// - If the store fails to claim the key, the handler does not run.
    ///
    /// # Errors
    ///
    /// A problem. The host adds the path and the request id to it, as to its own problems:
    ///
    /// - 400 if the key is malformed, or missing although required.
    /// - 409 (or 422, see [`with_mismatch_status`](Self::with_mismatch_status)) if the key was used
    ///   with a different request.
    /// - 409 if the first request is in progress, cannot be replayed, or has an unknown outcome.
    /// - 503 with `Retry-After: 1` if the store is unavailable, 500 if its record is corrupt.
    /// - The problem of [`Reply::NothingHappened`] or [`Reply::OutcomeUnknown`].
    pub async fn run<R: IntoReply>(
        &self,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl Future<Output = R>,
    ) -> Result<Response<Bytes>, Problem> {
        self.run_with_version(None, request, scope, handler).await
    }

    /// [`run`](Self::run) for a request with this version in a header field.
    pub(crate) async fn run_with_version<R: IntoReply>(
        &self,
        version: Option<ApiVersion>,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl Future<Output = R>,
    ) -> Result<Response<Bytes>, Problem> {
        match self
            .claim_key(version, request, scope, Completion::Afterwards)
            .await?
        {
            NextStep::RunWithoutKey => handler.await.into_reply(&self.problems).into(),
            NextStep::Run(claim) => {
                let reply = handler.await.into_reply(&self.problems);
                self.settle(&claim, reply).await
            }
            NextStep::Replay(response) => Ok(response),
        }
    }

    /// Like [`run`](Self::run), for a handler that completes its key in the transaction that writes
    /// its rows: the rows and the stored response take effect together, or not at all.
    ///
    /// If the first request crashed, the next request after the lease gets the stored response of a
    /// committed transaction, or else runs the handler again. If the first handler is still running
    /// then, its settlement fails with [`Fenced`](super::Fenced), and it must roll back.
    ///
    /// The handler returns a [`Reply`]. A response alone is not enough, because it would be stored
    /// after the commit.
    ///
    /// # Contract
    ///
    /// - The handler writes in one transaction, in the database of the store. Its other effects,
    ///   for example calls of another service, may happen again after a crash.
    /// - In this transaction it stores a [`settlement`](HeldKey::settlement) of its response, or an
    ///   [`unkept_settlement`](HeldKey::unkept_settlement) if the response contains a secret that
    ///   is shown once. After the commit it returns [`Reply::Completed`] with the receipt.
    /// - For a request without a key it receives `None` and stores no settlement. It returns any
    ///   reply but [`Reply::Completed`].
    /// - If the result of the commit is unknown, it returns [`Reply::OutcomeUnknown`]. If the
    ///   transaction has committed, the client then gets the stored response. Otherwise the client
    ///   gets the problem, and the key is free for a retry.
    /// - For a refusal that writes no row it may return [`Reply::Final`], which is stored after the
    ///   handler has returned. If another request has taken over the key, the client gets the
    ///   response of that request instead.
    ///
    /// The setting [`with_after_crash`](Self::with_after_crash) has no effect.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run), except that no request gets `idempotency-outcome-unknown`.
    pub async fn run_in_transaction<F: Future<Output = Reply>>(
        &self,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl FnOnce(Option<HeldKey>) -> F,
    ) -> Result<Response<Bytes>, Problem> {
        self.run_in_transaction_with_version(None, request, scope, handler)
            .await
    }

    /// [`run_in_transaction`](Self::run_in_transaction) for a request with this version in a header
    /// field.
    pub(crate) async fn run_in_transaction_with_version<F: Future<Output = Reply>>(
        &self,
        version: Option<ApiVersion>,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl FnOnce(Option<HeldKey>) -> F,
    ) -> Result<Response<Bytes>, Problem> {
        match self
            .claim_key(version, request, scope, Completion::InTransaction)
            .await?
        {
            NextStep::RunWithoutKey => handler(None).await.into(),
            NextStep::Run(claim) => {
                let held = HeldKey::new(&claim, self.max_stored_body);
                match handler(Some(held)).await {
                    // the handler has committed
                    reply @ (Reply::Completed(..) | Reply::Unkept(_)) => self.settle(&claim, reply).await,
                    // the record tells whether it has
                    Reply::OutcomeUnknown(problem) => {
                        let reply = Reply::NothingHappened(problem);
                        self.settle_or_read(&claim, reply).await
                    }
                    reply => self.settle_or_read(&claim, reply).await,
                }
            }
            NextStep::Replay(response) => Ok(response),
        }
    }

    /// Claims the key of the request, unless the request runs without a key.
    async fn claim_key(
        &self,
        version: Option<ApiVersion>,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        completion: Completion,
    ) -> Result<NextStep, Problem> {
        if request.method().is_safe() {
            return Ok(NextStep::RunWithoutKey);
        }
        let key = match IdempotencyKey::from_headers(request.headers()) {
            Ok(Some(key)) => key,
            Ok(None) if self.key_required => {
                return Err(types::IDEMPOTENCY_KEY_MISSING.problem(&self.problems));
            }
            Ok(None) => return Ok(NextStep::RunWithoutKey),
            Err(InvalidIdempotencyKey) => {
                return Err(types::IDEMPOTENCY_KEY_INVALID.problem(&self.problems));
            }
        };
        let now = self.clock.now();
        let key = RecordKey::new(scope, request.method(), &key);
        let claim = self.new_claim(key, Fingerprint::with_version(request, version), completion, now);
        match self.store.claim(&claim, now).await {
            Ok(ClaimOutcome::Claimed) => Ok(NextStep::Run(claim)),
            Ok(ClaimOutcome::Settled(outcome)) => self.replay(outcome).map(NextStep::Replay),
            Ok(ClaimOutcome::Mismatched) => Err(self.mismatch_problem()),
            Ok(ClaimOutcome::InFlight { lease_until }) => Err(self.in_flight_problem(lease_until, now)),
            Err(error) => {
                // the claim may be stored although its response was lost; the handler did not run,
                // so free the key
                let _freed = self.store.release(&claim.key, &claim.fence).await;
                Err(self.store_problem(&error))
            }
        }
    }

    fn new_claim(
        &self,
        key: RecordKey,
        fingerprint: Fingerprint,
        completion: Completion,
        now: SystemTime,
    ) -> Claim {
        let lease_until = later(now, self.lease);
        Claim {
            key,
            fingerprint,
            fence: self.fences.next(),
            lease_until,
            // a record that expired during its lease would let a second request run
            expires_at: later(lease_until, self.lifetime),
            after_crash: match completion {
                Completion::Afterwards => self.after_crash,
                Completion::InTransaction => AfterCrash::RunAgain,
            },
            // a crash that loses this claim also loses the transaction of its handler
            is_durable: completion == Completion::Afterwards,
        }
    }
}

/// Time at which the outcome of a request is stored.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Completion {
    /// After the handler has returned.
    Afterwards,
    /// In the transaction of the handler.
    InTransaction,
}

/// Next step of a request.
enum NextStep {
    /// Run the handler without idempotency.
    RunWithoutKey,
    /// Run the handler, which holds the key.
    Run(Claim),
    /// Send the stored response.
    Replay(Response<Bytes>),
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency")
            .field("problems", &self.problems)
            .field("mismatch_status", &self.mismatch_status)
            .field("after_crash", &self.after_crash)
            .field("key_required", &self.key_required)
            .field("lease", &self.lease)
            .field("lifetime", &self.lifetime)
            .field("max_stored_body", &self.max_stored_body)
            .finish_non_exhaustive()
    }
}

/// Time after `wait`, without overflow.
pub(super) fn later(now: SystemTime, wait: Duration) -> SystemTime {
    now.checked_add(wait.min(LONGEST_TIME)).unwrap_or(now)
}
