//! End of a request with a key: its outcome is stored, or that of an earlier request is sent.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Response;

use super::{
    Claim, ClaimOutcome, Idempotency, MismatchStatus, Reply, RequestOutcome, Settled, capture,
    endpoint::later,
};
use crate::{
    errors::{ErrorStatus, Problem, ProblemType, types},
    limits::RetryAfter,
    ports::{StoreError, StoreErrorKind},
};

/// Longest `Retry-After` while the first request runs. It is shorter than a lease, because most
/// requests end long before their lease.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// `Retry-After` while the store is unavailable.
const STORE_RETRY: Duration = Duration::from_secs(1);

impl Idempotency {
    /// Settles the request. If the store fails, the response is still sent, because the request has
    /// taken effect. The record then counts as crashed after its lease.
    pub(super) async fn settle(&self, claim: &Claim, reply: Reply) -> Result<Response<Bytes>, Problem> {
        if let Reply::Completed(response, receipt) = reply {
            return match receipt.belongs_to(claim) {
                true => Ok(response),
                false => {
                    Err(self.store_problem(&StoreError::corrupt("the receipt belongs to another request")))
                }
            };
        }
        if let Err(error) = self.note(claim, &reply).await {
            (self.failure_log)(&error);
        }
        reply.into()
    }

    /// Stores the outcome of `reply`, or frees the key.
    async fn note(&self, claim: &Claim, reply: &Reply) -> Result<Settled, StoreError> {
        match self.outcome_of(reply) {
            Some(outcome) => {
                let expires_at = later(self.clock.now(), self.lifetime);
                self.store
                    .complete(&claim.key, &claim.fence, outcome, expires_at)
                    .await
            }
            None => self.store.release(&claim.key, &claim.fence).await,
        }
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
            Reply::NothingHappened(_) | Reply::Completed(..) => None,
        }
    }

    /// Settles a request whose transaction has not committed, as far as its handler knows.
    ///
    /// If the record can be settled or freed, the transaction has not committed, and never will:
    /// its settlement is fenced. Otherwise the record tells the only response of the key: that of
    /// the transaction, or of the request that has taken over the key.
    pub(super) async fn settle_or_read(
        &self,
        claim: &Claim,
        reply: Reply,
    ) -> Result<Response<Bytes>, Problem> {
        let now = self.clock.now();
        let found = match self.note(claim, &reply).await {
            Ok(Settled::Done) => return reply.into(),
            Ok(Settled::Fenced) => self.store.claim(claim, now).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(ClaimOutcome::Settled(outcome)) => self.replay(outcome),
            // another request has taken over the key
            Ok(ClaimOutcome::InFlight { lease_until }) => Err(self.in_flight_problem(lease_until, now)),
            // or it had, and its record is gone
            Ok(ClaimOutcome::Claimed) => self.settle(claim, reply).await,
            Ok(ClaimOutcome::Mismatched) => reply.into(),
            Err(error) => {
                (self.failure_log)(&error);
                reply.into()
            }
        }
    }

    /// Replays a settled request.
    pub(super) fn replay(&self, outcome: RequestOutcome) -> Result<Response<Bytes>, Problem> {
        match outcome {
            RequestOutcome::Completed(stored) => capture::replay(stored).ok_or_else(|| {
                self.store_problem(&StoreError::corrupt(
                    "the stored response is not a valid HTTP response",
                ))
            }),
            RequestOutcome::Unreplayable { status } => Err(self
                .final_problem(&types::IDEMPOTENCY_RESULT_NOT_REPLAYABLE)
                .with_extension("original_status", i64::from(status))),
            RequestOutcome::Indeterminate => Err(self.final_problem(&types::IDEMPOTENCY_OUTCOME_UNKNOWN)),
        }
    }

    pub(super) fn mismatch_problem(&self) -> Problem {
        let kind = types::IDEMPOTENCY_KEY_REUSED;
        let problem = match self.mismatch_status {
            MismatchStatus::Conflict => kind.problem(&self.problems),
            MismatchStatus::UnprocessableContent => Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT)
                .with_type(kind.uri(&self.problems), kind.title()),
        };
        problem.with_extension("retryable", false)
    }

    pub(super) fn in_flight_problem(&self, lease_until: SystemTime, now: SystemTime) -> Problem {
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

    /// Logs the failure of the store and returns the problem for the client.
    pub(super) fn store_problem(&self, error: &StoreError) -> Problem {
        (self.failure_log)(error);
        match error.kind() {
            StoreErrorKind::Unavailable => Problem::service_unavailable(RetryAfter::new(STORE_RETRY))
                .with_detail("requests with an Idempotency-Key are unavailable at the moment"),
            _ => Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
        }
    }
}
