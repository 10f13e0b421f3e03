//! Answers from before the handler.

use bytes::Bytes;
use http::{Response, StatusCode};

/// An answer that no handler was needed for: a refusal, or that to a preflight. It is finished, and has to be sent as it is.
#[derive(Clone, Debug)]
#[must_use = "it is the answer to send"]
// one pointer, so that a `Result` costs nothing where all goes well
pub struct EarlyAnswer(Box<Response<Bytes>>);

impl EarlyAnswer {
    pub(super) fn new(finished: Response<Bytes>) -> Self {
        Self(Box::new(finished))
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// The whole answer.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        *self.0
    }
}

impl From<EarlyAnswer> for Response<Bytes> {
    fn from(answer: EarlyAnswer) -> Self {
        answer.into_response()
    }
}
