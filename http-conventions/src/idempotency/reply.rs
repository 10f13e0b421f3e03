//! Replies of handlers.

use std::fmt;

use bytes::Bytes;
use http::Response;

use crate::errors::Problem;

/// Reply of a handler, which decides about its key.
///
/// A response converts to [`Final`](Self::Final). A `Result` converts to [`Final`](Self::Final)
/// too, except for a problem with a 5xx status, which converts to
/// [`OutcomeUnknown`](Self::OutcomeUnknown): only the handler knows that nothing took effect.
#[expect(
    clippy::exhaustive_enums,
    reason = "the request took effect, or it did not, or the outcome is unknown"
)]
pub enum Reply {
    /// The outcome, success or error: store and replay the response.
    ///
    /// # Security
    ///
    /// The store keeps headers and body in clear text for the lifetime of the record. Use
    /// [`Unkept`](Self::Unkept) for a secret that is shown once.
    Final(Response<Bytes>),
    /// The outcome, sent once: store its status alone and never run the request again. For a
    /// response that contains a secret.
    Unkept(Response<Bytes>),
    /// Nothing took effect: free the key, so that a retry runs.
    NothingHappened(Problem),
    /// The request may have taken effect, for example because an upstream service timed out: never
    /// run it again.
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

/// Shows the status alone; the rest may contain a secret.
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
