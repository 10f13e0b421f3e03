use std::sync::Arc;

use async_trait::async_trait;

use crate::client::TokenResponse;
use crate::ports::StoreError;

/// Keeps tokens where they outlive the process: the place that a host's stored refresh token is in.
///
/// # What an implementation must guarantee
///
/// - **What was saved stays saved**, once it says so: the tokens of before are of no use any more.
/// - **The latest alone counts**: they take the place of those of before. Calls of one source come one after the other, and one
///   that failed comes again with the same tokens.
/// - **It asks the source for nothing**: who waits for the tokens waits for it.
#[async_trait]
pub trait TokenSink: Send + Sync {
    /// Keeps the refresh token, and what else the host wants to find again: scopes, expiry, the access token.
    ///
    /// # Errors
    ///
    /// They are not kept, or it is unknown whether they are.
    async fn save(&self, tokens: &TokenResponse) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: TokenSink + ?Sized> TokenSink for Arc<S> {
    async fn save(&self, tokens: &TokenResponse) -> Result<(), StoreError> {
        (**self).save(tokens).await
    }
}
