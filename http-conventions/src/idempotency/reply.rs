//! Replies of handlers.

use std::fmt;

use bytes::Bytes;
use http::Response;

use super::Receipt;
use crate::errors::{HostError, Problem, ProblemBase};

/// Reply of a handler. It decides if the response is stored, and if the key is freed.
///
/// [`IntoReply`] converts the output of a handler.
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
    ///
    /// It is stored after the handler has returned. A handler of
    /// [`run_in_transaction`](super::Idempotency::run_in_transaction) therefore stores the
    /// [unkept settlement](super::HeldKey::unkept_settlement) of such a response in its
    /// transaction, and returns [`Completed`](Self::Completed).
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

/// Output of a handler: a [`Reply`], a response, or a `Result` whose error is a [`HostError`].
///
/// | output | reply |
/// |---|---|
/// | response | [`Reply::Final`] |
/// | error with a 4xx status | [`Reply::Final`] |
/// | error with a 5xx status | [`Reply::OutcomeUnknown`], because only the handler knows that nothing took effect |
///
/// ```
/// use bytes::Bytes;
/// use http::Response;
/// use http_conventions::{
///     errors::{Problem, ProblemBase},
///     idempotency::{IntoReply, Reply},
///     ports::StoreError,
/// };
///
/// let problems = ProblemBase::new("https://api.example.com/problems/")?;
/// let failed: Result<Response<Bytes>, StoreError> = Err(StoreError::unavailable("timeout"));
/// assert!(matches!(failed.into_reply(&problems), Reply::OutcomeUnknown(_)));
/// # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
/// ```
pub trait IntoReply {
    /// Converts the output. `problems` is the base of the problem types.
    fn into_reply(self, problems: &ProblemBase) -> Reply;
}

impl IntoReply for Reply {
    fn into_reply(self, _problems: &ProblemBase) -> Reply {
        self
    }
}

impl IntoReply for Response<Bytes> {
    fn into_reply(self, _problems: &ProblemBase) -> Reply {
        Reply::Final(self)
    }
}

impl<R: IntoReply, E: HostError> IntoReply for Result<R, E> {
    fn into_reply(self, problems: &ProblemBase) -> Reply {
        match self.map_err(|error| error.into_problem(problems)) {
            Ok(output) => output.into_reply(problems),
            Err(problem) if problem.status().is_server_error() => Reply::OutcomeUnknown(problem),
            Err(problem) => Reply::Final(problem.into_response()),
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
