//! The wrapper around a handler: parse, claim, run, settle.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use super::{
    AfterCrash, Claim, ClaimOutcome, Fingerprint, IdempotencyKey, IdempotencyStore, InvalidIdempotencyKey,
    KeyScope, RecordKey, Reply, RequestOutcome, Settled, capture, fences::Fences,
};
use crate::ports::{StoreError, StoreErrorKind};
use crate::{
    errors::{ErrorStatus, Problem, ProblemBase, ProblemType, types},
    limits::RetryAfter,
    ports::{Clock, Entropy},
    versions::ApiVersion,
};

/// The longest wait a client is asked for while the first request runs: most are over much sooner than their lease.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const STORE_RETRY: Duration = Duration::from_secs(1);
/// A century is as good as forever, and can be added to any time of this age.
const LONGEST_TIME: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Gives handlers idempotency keys. Cheap to clone.
#[derive(Clone)]
pub struct Idempotency {
    store: Arc<dyn IdempotencyStore>,
    clock: Arc<dyn Clock>,
    fences: Arc<Fences>,
    failure_log: Arc<dyn Fn(&StoreError) + Send + Sync>,
    problems: ProblemBase,
    mismatch_status: MismatchStatus,
    after_crash: AfterCrash,
    key_required: bool,
    lease: Duration,
    lifetime: Duration,
    max_stored_body: usize,
}

/// The status for a key that comes with a different request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "APIs and the draft know these two")]
pub enum MismatchStatus {
    /// 409.
    #[default]
    Conflict,
    /// 422, as the IETF draft has it.
    UnprocessableContent,
}

impl Idempotency {
    /// Idempotency keys in this store, with problems under this base; randomness is asked for once, here.
    ///
    /// Leases last 60 seconds, records 24 hours, bodies up to 1 MiB are kept, and the key is optional.
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

    /// Answers 400 to a request without a key, instead of just running it.
    #[must_use]
    pub fn with_key_required(mut self) -> Self {
        self.key_required = true;
        self
    }

    /// With this status for a key that comes with a different request.
    #[must_use]
    pub fn with_mismatch_status(mut self, status: MismatchStatus) -> Self {
        self.mismatch_status = status;
        self
    }

    /// With this answer to a first request that broke off.
    ///
    /// # Security
    ///
    /// [`AfterCrash::RunAgain`] runs a handler twice if it is slower than its lease.
    #[must_use]
    pub fn with_after_crash(mut self, after_crash: AfterCrash) -> Self {
        self.after_crash = after_crash;
        self
    }

    /// With this time for a handler to finish in.
    #[must_use]
    pub fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// With this lifetime of a record, from when its request is over.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// With this many bytes of body to keep at most; a larger answer is sent once, and never run again.
    #[must_use]
    pub fn with_max_stored_body(mut self, bytes: usize) -> Self {
        self.max_stored_body = bytes;
        self
    }

    /// Tells every failure of the store to this log. No answer shows them: a request gets a 503 or 500 without the cause, and
    /// one that had run its full answer.
    #[must_use]
    pub fn with_failure_log(mut self, log: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.failure_log = Arc::new(log);
        self
    }

    /// Whether a request without a key is refused.
    pub(crate) const fn is_key_required(&self) -> bool {
        self.key_required
    }

    /// The status for a key that comes with a different request.
    pub(crate) const fn mismatch_status(&self) -> StatusCode {
        match self.mismatch_status {
            MismatchStatus::Conflict => StatusCode::CONFLICT,
            MismatchStatus::UnprocessableContent => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// The base of its problems.
    pub(crate) const fn problems(&self) -> &ProblemBase {
        &self.problems
    }

    /// Runs the handler, unless the request was run before; answers in its place then.
    ///
    /// The handler is polled only by the one holder of the key. Safe methods pass through, as does a request without a key
    /// where none is required. The store is asked before anything runs: while it is down, the answer is 503.
    ///
    /// # Errors
    ///
    /// The problem to answer with, for the host to complete as it does its own: 400 for a key that is malformed or missing,
    /// 409 for one that cannot be answered now or again, 503 or 500 for a store that fails, and what the handler gave with
    /// [`Reply::NothingHappened`] or [`Reply::OutcomeUnknown`].
    pub async fn run<R: Into<Reply>>(
        &self,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl Future<Output = R>,
    ) -> Result<Response<Bytes>, Problem> {
        self.run_naming(None, request, scope, handler).await
    }

    /// The same for a request that names this version in a field.
    pub(crate) async fn run_naming<R: Into<Reply>>(
        &self,
        version: Option<ApiVersion>,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl Future<Output = R>,
    ) -> Result<Response<Bytes>, Problem> {
        if request.method().is_safe() {
            return handler.await.into().into();
        }
        let key = match IdempotencyKey::from_headers(request.headers()) {
            Ok(Some(key)) => key,
            Ok(None) if self.key_required => {
                return Err(types::IDEMPOTENCY_KEY_MISSING.problem(&self.problems));
            }
            Ok(None) => return handler.await.into().into(),
            Err(InvalidIdempotencyKey) => {
                return Err(types::IDEMPOTENCY_KEY_INVALID.problem(&self.problems));
            }
        };
        let now = self.clock.now();
        let key = RecordKey::new(scope, request.method(), &key);
        let claim = self.new_claim(key, Fingerprint::naming(request, version), now);
        match self.store.claim(&claim, now).await {
            Ok(ClaimOutcome::Claimed) => self.settle(&claim, handler.await.into()).await,
            Ok(ClaimOutcome::Settled(outcome)) => self.again(outcome),
            Ok(ClaimOutcome::Mismatched) => Err(self.mismatched()),
            Ok(ClaimOutcome::InFlight { lease_until }) => Err(self.in_flight(lease_until, now)),
            Err(error) => {
                // the claim may stand with its answer lost: nothing ran, and whoever sends it again is not to be told that nobody knows
                let _freed = self.store.release(&claim.key, &claim.fence).await;
                Err(self.broken_store(&error))
            }
        }
    }

    fn new_claim(&self, key: RecordKey, fingerprint: Fingerprint, now: SystemTime) -> Claim {
        let lease_until = later(now, self.lease);
        Claim {
            key,
            fingerprint,
            fence: self.fences.next(),
            lease_until,
            // a record that ended with its lease would let a second run in
            expires_at: later(lease_until, self.lifetime),
            after_crash: self.after_crash,
        }
    }

    /// Notes how the request ended. Should the store fail now, the answer still goes out: the effect is there, and the
    /// lease settles what could not be noted.
    async fn settle(&self, claim: &Claim, reply: Reply) -> Result<Response<Bytes>, Problem> {
        let noted = match self.outcome_of(&reply) {
            Some(outcome) => {
                let expires_at = later(self.clock.now(), self.lifetime);
                self.store
                    .complete(&claim.key, &claim.fence, outcome, expires_at)
                    .await
            }
            None => self.store.release(&claim.key, &claim.fence).await,
        };
        match noted {
            Ok(Settled::Done | Settled::Fenced) => {}
            Err(error) => (self.failure_log)(&error),
        }
        reply.into()
    }

    fn outcome_of(&self, reply: &Reply) -> Option<RequestOutcome> {
        match reply {
            Reply::Final(response) if response.body().len() <= self.max_stored_body => {
                Some(RequestOutcome::Completed(capture::capture(response)))
            }
            Reply::Final(response) | Reply::Unkept(response) => Some(RequestOutcome::Unreplayable {
                status: response.status().as_u16(),
            }),
            Reply::OutcomeUnknown(_) => Some(RequestOutcome::Indeterminate),
            Reply::NothingHappened(_) => None,
        }
    }

    /// Answers a request that is over in the place of its handler.
    fn again(&self, outcome: RequestOutcome) -> Result<Response<Bytes>, Problem> {
        match outcome {
            RequestOutcome::Completed(stored) => capture::replay(stored).ok_or_else(|| {
                self.broken_store(&StoreError::corrupt("a stored answer is no HTTP response"))
            }),
            RequestOutcome::Unreplayable { status } => Err(self
                .final_problem(&types::IDEMPOTENCY_RESULT_NOT_REPLAYABLE)
                .with_extension("original_status", i64::from(status))),
            RequestOutcome::Indeterminate => Err(self.final_problem(&types::IDEMPOTENCY_OUTCOME_UNKNOWN)),
        }
    }

    fn mismatched(&self) -> Problem {
        let kind = types::IDEMPOTENCY_KEY_REUSED;
        let problem = match self.mismatch_status {
            MismatchStatus::Conflict => kind.problem(&self.problems),
            MismatchStatus::UnprocessableContent => Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT)
                .with_type(kind.uri(&self.problems), kind.title()),
        };
        problem.with_extension("retryable", false)
    }

    fn in_flight(&self, lease_until: SystemTime, now: SystemTime) -> Problem {
        let wait = lease_until
            .duration_since(now)
            .unwrap_or_default()
            .min(LONGEST_WAIT);
        types::IDEMPOTENCY_IN_FLIGHT
            .problem(&self.problems)
            .with_extension("retryable", true)
            .with_retry_after(RetryAfter::new(wait))
    }

    fn final_problem(&self, kind: &ProblemType) -> Problem {
        kind.problem(&self.problems).with_extension("retryable", false)
    }

    fn broken_store(&self, error: &StoreError) -> Problem {
        (self.failure_log)(error);
        match error.kind() {
            StoreErrorKind::Unavailable => Problem::service_unavailable(RetryAfter::new(STORE_RETRY))
                .with_detail("requests with an Idempotency-Key cannot be answered at the moment"),
            _ => Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
        }
    }
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

fn later(now: SystemTime, wait: Duration) -> SystemTime {
    now.checked_add(wait.min(LONGEST_TIME)).unwrap_or(now)
}
