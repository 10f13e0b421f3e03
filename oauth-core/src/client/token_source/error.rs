use std::convert::Infallible;
use std::sync::Arc;

use crate::client::{CallError, OAuthError, TokenError};
use crate::ports::StoreError;
use crate::vocabulary::InvalidEndpoint;

/// Failure of a [`TokenSource`](super::TokenSource) to return tokens.
///
/// All callers that wait for one refresh get the same error.
#[non_exhaustive]
#[derive(Clone, Debug, thiserror::Error)]
pub enum RefreshError {
    /// The server responded to a refresh with `invalid_grant`: the authorization has ended. The
    /// error is final: the source sends no further request, and the user must sign in again.
    #[error("the sign-in has ended")]
    Ended(#[source] OAuthError),
    /// The access token has expired, and there is no refresh token.
    #[error("there is no refresh token")]
    NoRefreshToken,
    /// The server was not reached, or returned no tokens. It may have processed the request. The
    /// next call retries with the same refresh token.
    #[error("the tokens could not be refreshed")]
    Failed(#[source] Arc<CallError<TokenError>>),
    /// New tokens were received, but the [`TokenSink`](super::TokenSink) failed to save them. The
    /// source keeps them. The next call retries the sink, without a request to the server.
    #[error("the new tokens could not be saved")]
    Unsaved(#[source] Arc<StoreError>),
}

/// Failure of an API call.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// No token is available.
    #[error(transparent)]
    Refresh(#[from] RefreshError),
    /// The URL is neither an absolute `https` URL nor a loopback `http` URL.
    #[error("the url is not one to which a token may be sent: expected https or loopback http")]
    Target(#[from] InvalidEndpoint),
    /// The API did not respond.
    #[error(transparent)]
    Call(#[from] CallError<Infallible>),
}
