//! Replies of handlers.

use std::fmt;

use bytes::Bytes;
use http::Response;

use super::Receipt;
use crate::errors::Problem;

/// Reply of a handler. It decides if the response is stored, and if the key is freed.
///
/// A response converts to [`Final`](Self::Final), and so does a `Result`, with one exception: a
/// problem with a 5xx status converts to [`OutcomeUnknown`](Self::OutcomeUnknown), because only the
/// handler knows that nothing took effect.
#[expect(
    clippy::exhaustive_enums,
    reason = "the request took effect, or it did not, or the outcome is unknown"
)]
pub enum Reply {
    /// Final response, success or error. It is stored and replayed.
    ///
    /// # Security
    ///
    /// The store keeps headers and body in clear text for the lifetime of the record. Use
    /// [`Unkept`](Self::Unkept) for a secret that is shown once.
    Final(Response<Bytes>),
    /// Response that is sent once, because it contains a secret. Only its status is stored, and the
    /// request is never run again.
    Unkept(Response<Bytes>),
    /// Response whose settlement is part of a committed transaction, with the receipt. For
    /// [`run_in_transaction`](super::Idempotency::run_in_transaction) only.
    Completed(Response<Bytes>, Receipt),
    /// Problem of a request without any effect. The key is freed, so that a retry runs.
    NothingHappened(Problem),
    /// Problem of a request that may have taken effect, for example because an upstream service
    /// timed out. The request is never run again, except by
    /// [`run_in_transaction`](super::Idempotency::run_in_transaction): there the record shows if
    /// the transaction has committed.
    OutcomeUnknown(Problem),
}

impl Reply {
    /// Creates [`Completed`](Self::Completed) from a receipt, or [`Final`](Self::Final) for a
    /// request without a key.
    #[must_use]
    pub fn completed(response: Response<Bytes>, receipt: Option<Receipt>) -> Self {
        match receipt {
            Some(receipt) => Self::Completed(response, receipt),
            None => Self::Final(response),
        }
    }
}

impl From<Response<Bytes>> for Reply {
    fn from(response: Response<Bytes>) -> Self {
        Self::Final(response)
    }
}

impl From<Result<Response<Bytes>, Problem>> for Reply {
    fn from(handled: Result<Response<Bytes>, Problem>) -> Self {
        match handled {
            Ok(response) => Self::Final(response),
            Err(problem) if problem.status().is_server_error() => Self::OutcomeUnknown(problem),
            Err(problem) => Self::Final(problem.into_response()),
        }
    }
}

impl From<Reply> for Result<Response<Bytes>, Problem> {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Final(response) | Reply::Unkept(response) | Reply::Completed(response, _) => Ok(response),
            Reply::NothingHappened(problem) | Reply::OutcomeUnknown(problem) => Err(problem),
        }
    }
}

/// Shows the status alone; the rest may contain a secret.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, status) = match self {
            Self::Final(response) => ("Final", response.status()),
            Self::Unkept(response) => ("Unkept", response.status()),
            Self::Completed(response, _) => ("Completed", response.status()),
            Self::NothingHappened(problem) => ("NothingHappened", problem.status()),
            Self::OutcomeUnknown(problem) => ("OutcomeUnknown", problem.status()),
        };
        f.debug_tuple(name).field(&status).finish()
    }
}
