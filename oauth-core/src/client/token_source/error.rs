use std::convert::Infallible;
use std::sync::Arc;

use crate::client::{CallError, OAuthError, TokenError};
use crate::ports::StoreError;
use crate::vocabulary::InvalidEndpoint;

/// Why a [`TokenSource`](super::TokenSource) has no tokens to give.
///
/// All who wait for one refresh are told the same.
#[non_exhaustive]
#[derive(Clone, Debug, thiserror::Error)]
pub enum RefreshError {
    /// The server answered `invalid_grant`: what the person once allowed has ended. It stays so, and nothing is asked again: the person
    /// must sign in anew.
    #[error("the sign-in has ended")]
    Ended(#[source] OAuthError),
    /// The access token is over, and the server gave nothing to get another with.
    #[error("there is no refresh token")]
    NoRefreshToken,
    /// The server was not reached, or gave no tokens. Whether it saw the request may be unknown. The next call asks again, with the same
    /// refresh token.
    #[error("the tokens could not be refreshed")]
    Failed(#[source] Arc<CallError<TokenError>>),
    /// There are new tokens, and the [`TokenSink`](super::TokenSink) did not take them. They are kept here, and handed out once it has: the
    /// next call asks it again, and the server nothing.
    #[error("the new tokens could not be saved")]
    Unsaved(#[source] Arc<StoreError>),
}

/// Why a request to an API brought no answer.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// There is no token to send with it.
    #[error(transparent)]
    Refresh(#[from] RefreshError),
    /// It goes where no token may be sent.
    #[error("the request is for no place to send a token to")]
    Target(#[from] InvalidEndpoint),
    /// It was not answered.
    #[error(transparent)]
    Call(#[from] CallError<Infallible>),
}
