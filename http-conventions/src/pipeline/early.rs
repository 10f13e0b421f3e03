//! Responses that end an exchange before its handler.

use bytes::Bytes;
use http::{Response, StatusCode};

/// A finished response that ended the exchange before its handler: a refusal, or the response to a
/// preflight. Send it unchanged.
#[derive(Clone, Debug)]
#[must_use = "it is the answer to send"]
// one pointer in size, so that a `Result` stays small
pub struct EarlyResponse(Box<Response<Bytes>>);

impl EarlyResponse {
    pub(super) fn new(finished: Response<Bytes>) -> Self {
        Self(Box::new(finished))
    }

    /// Status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// The complete response.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        *self.0
    }
}

impl From<EarlyResponse> for Response<Bytes> {
    fn from(answer: EarlyResponse) -> Self {
        answer.into_response()
    }
}
