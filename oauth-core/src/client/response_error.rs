use bytes::Bytes;
use http::{Response, StatusCode};

use super::OAuthError;

/// Error for a response of a server that cannot be used; the token endpoint has its own,
/// [`TokenError`](super::TokenError).
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ResponseError {
    /// The server refused.
    #[error("the request was refused")]
    Refused(#[source] OAuthError),
    /// The answer is neither what was asked for nor a refusal; with a status of 5xx a later attempt may succeed.
    #[error("the server answered with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The answer is not what an answer looks like, or has more than 64 KiB.
    #[error("the answer is malformed")]
    Malformed,
}

impl ResponseError {
    /// Why a response that is no success is none.
    pub(super) fn of(response: &Response<Bytes>) -> Self {
        let status = Self::UnexpectedStatus(response.status());
        OAuthError::read(response).map_or(status, Self::Refused)
    }
}
