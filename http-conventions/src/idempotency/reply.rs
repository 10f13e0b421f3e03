//! What a handler answers.

use std::fmt;

use bytes::Bytes;
use http::Response;

use crate::errors::Problem;

/// What a handler answers, and what that means for its key.
///
/// A plain response converts to [`Final`](Self::Final). A `Result` does too, but for a problem of 500 or more, which is
/// [`OutcomeUnknown`](Self::OutcomeUnknown): only the handler can say that nothing happened.
#[expect(
    clippy::exhaustive_enums,
    reason = "the request took effect, or it did not, or nobody knows"
)]
pub enum Reply {
    /// This is the outcome, success or error: keep it and send it again.
    ///
    /// # Security
    ///
    /// The store keeps headers and body as they are, for the lifetime of the record. For a secret that is shown once there
    /// is [`Unkept`](Self::Unkept).
    Final(Response<Bytes>),
    /// This is the outcome, sent once: keep nothing of it but its status, and never run the request again. For an answer that
    /// holds a secret.
    Unkept(Response<Bytes>),
    /// Nothing took effect: free the key, so that a retry runs.
    NothingHappened(Problem),
    /// It may have taken effect, for instance because a service behind this one did not answer: never run it again.
    OutcomeUnknown(Problem),
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
            Reply::Final(response) | Reply::Unkept(response) => Ok(response),
            Reply::NothingHappened(problem) | Reply::OutcomeUnknown(problem) => Err(problem),
        }
    }
}

/// Shows the status alone, as the rest may hold a secret.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, status) = match self {
            Self::Final(response) => ("Final", response.status()),
            Self::Unkept(response) => ("Unkept", response.status()),
            Self::NothingHappened(problem) => ("NothingHappened", problem.status()),
            Self::OutcomeUnknown(problem) => ("OutcomeUnknown", problem.status()),
        };
        f.debug_tuple(name).field(&status).finish()
    }
}
