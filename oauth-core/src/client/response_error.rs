use bytes::Bytes;
use http::{Response, StatusCode};

use super::OAuthError;

/// Failure of a direct request to an authorization server. The token endpoint has its own,
/// [`TokenError`](super::TokenError).
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ResponseError {
    /// The server refused.
    #[error("the request was refused")]
    Refused(#[source] OAuthError),
    /// The response is neither a success nor a refusal. After a status of 5xx a retry may succeed.
    #[error("the server responded with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The response is malformed, or longer than 64 KiB.
    #[error("the response is malformed")]
    Malformed,
}

impl ResponseError {
    /// Error for a response without a success status.
    pub(super) fn of(response: &Response<Bytes>) -> Self {
        let status = Self::UnexpectedStatus(response.status());
        OAuthError::read(response).map_or(status, Self::Refused)
    }
}
