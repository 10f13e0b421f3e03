use std::sync::Arc;

use async_trait::async_trait;

use crate::client::TokenResponse;
use crate::ports::StoreError;

/// Sink that saves the tokens of a [`TokenSource`](super::TokenSource) outside the process.
///
/// # Contract
///
/// - **Saved tokens are durable** when `save` returns: the server has invalidated the previous
///   tokens.
/// - **The latest tokens replace the earlier ones.** The calls of one source are sequential, and a
///   failed call is retried with the same tokens.
/// - **A sink does not call its source**: the source waits for the sink, so the call would
///   deadlock.
#[async_trait]
pub trait TokenSink: Send + Sync {
    /// Saves the refresh token and other values that the host needs later: scopes, expiry, the
    /// access token.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the tokens were not saved, or may not have been.
    async fn save(&self, tokens: &TokenResponse) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: TokenSink + ?Sized> TokenSink for Arc<S> {
    async fn save(&self, tokens: &TokenResponse) -> Result<(), StoreError> {
        (**self).save(tokens).await
    }
}
