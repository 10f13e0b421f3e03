//! Completion of a key in the transaction of the host.

use bytes::Bytes;
use http::{Response, StatusCode};
use std::{borrow::Cow, fmt, sync::Arc, time::SystemTime};
use thiserror::Error;

use super::{Claim, Fence, RecordKey, RequestOutcome, Settled, capture};

/// Key that a running handler holds. The handler completes the key in the transaction that writes
/// its rows.
///
/// See [`Idempotency::run_in_transaction`](super::Idempotency::run_in_transaction).
#[derive(Clone)]
pub struct HeldKey {
    key: RecordKey,
    fence: Fence,
    expires_at: SystemTime,
    max_stored_body: usize,
    explanation: Option<Arc<Explanation>>,
}

/// Completes the problem in a response.
type Explanation = dyn Fn(Response<Bytes>) -> Response<Bytes> + Send + Sync;

impl HeldKey {
    /// Creates the key of a granted `claim`. A response body above `max_stored_body` bytes is not
    /// stored.
    #[must_use]
    pub fn new(claim: &Claim, max_stored_body: usize) -> Self {
        Self {
            key: claim.key,
            fence: claim.fence,
            expires_at: claim.expires_at,
            max_stored_body,
            explanation: None,
        }
    }

    /// Completes the problems in responses by `explanation` before they are stored.
    pub(crate) fn explained_by(
        mut self,
        explanation: impl Fn(Response<Bytes>) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        self.explanation = Some(Arc::new(explanation));
        self
    }

    /// Creates the settlement that stores `response` for replay.
    ///
    /// A problem is stored in the complete form in which the pipeline sends it.
    ///
    /// If the body is above the [largest stored
    /// body](super::Idempotency::with_max_stored_body), only the status is stored.
    #[must_use]
    pub fn settlement(&self, response: &Response<Bytes>) -> Settlement {
        let response = match &self.explanation {
            Some(explanation) if is_error(response.status()) => Cow::Owned(explanation(response.clone())),
            _ => Cow::Borrowed(response),
        };
        if response.body().len() > self.max_stored_body {
            return self.unkept_settlement(&response);
        }
        self.settlement_with(RequestOutcome::Completed(capture::capture(&response)))
    }

    /// Creates the settlement that stores only the status of `response`, because it contains a
    /// secret that is shown once.
    #[must_use]
    pub fn unkept_settlement(&self, response: &Response<Bytes>) -> Settlement {
        self.settlement_with(RequestOutcome::Unreplayable {
            status: response.status().as_u16(),
        })
    }

    fn settlement_with(&self, outcome: RequestOutcome) -> Settlement {
        Settlement {
            key: self.key,
            fence: self.fence,
            outcome,
            expires_at: self.expires_at,
        }
    }
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

impl fmt::Debug for HeldKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldKey")
            .field("key", &self.key)
            .field("fence", &self.fence)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// Outcome of a request, to be written to the record of its key inside a transaction of the host.
///
/// # Contract
///
/// A store that writes a settlement guarantees:
///
/// - The record is written only while it is in flight under exactly this fencing token.
/// - Between that check and the end of the transaction, no other transaction changes the record:
///   a concurrent claim waits, or one of the two transactions fails.
/// - The settlement takes effect if and only if the transaction commits.
///
/// The cases of `http_conventions_conformance::completes_in_transaction!` check this.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Settlement {
    /// Key of the record.
    pub key: RecordKey,
    /// Fencing token of the holder.
    pub fence: Fence,
    /// Outcome to store.
    pub outcome: RequestOutcome,
    /// Expiry of the record.
    pub expires_at: SystemTime,
}

impl Settlement {
    /// Converts the result of the write to a receipt. For implementations of stores.
    ///
    /// # Errors
    ///
    /// [`Fenced`] if nothing was written.
    pub fn receipt(&self, settled: Settled) -> Result<Receipt, Fenced> {
        match settled {
            Settled::Done => Ok(Receipt { fence: self.fence }),
            Settled::Fenced => Err(Fenced),
        }
    }
}

/// Error of a request that no longer holds its key, for example because its lease expired and
/// another request has taken over the key. The handler must roll back its transaction.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[error("another request has taken over the idempotency key")]
#[expect(clippy::exhaustive_structs, reason = "a marker without data")]
pub struct Fenced;

/// Proof that a transaction contains the settlement of a key.
pub struct Receipt {
    fence: Fence,
}

impl Receipt {
    pub(super) fn belongs_to(&self, claim: &Claim) -> bool {
        self.fence == claim.fence
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receipt")
    }
}
