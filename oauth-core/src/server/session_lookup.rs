//! Lookup of the signed-in users of a browser.

use async_trait::async_trait;
use http::HeaderMap;
use std::fmt;
use std::sync::Arc;

use super::resume::Authentication;
use crate::ports::StoreError;
use crate::vocabulary::ClientId;

/// Argument of [`SessionLookup::find_users`]: the browser and the requesting client.
/// `Debug` does not show the headers, because a cookie is a secret.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SessionQuery<'a> {
    /// Headers of the authorization request, with the cookies of the browser.
    pub headers: &'a HeaderMap,
    /// Requesting client.
    pub client_id: &'a ClientId,
    /// Suggested user, from `login_hint`. It is unverified.
    pub login_hint: Option<&'a str>,
}

impl fmt::Debug for SessionQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionQuery")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl<'a> SessionQuery<'a> {
    /// Creates a query without `login_hint`.
    #[must_use]
    pub const fn new(headers: &'a HeaderMap, client_id: &'a ClientId) -> Self {
        Self {
            headers,
            client_id,
            login_hint: None,
        }
    }
}

/// Answer of a [`SessionLookup`].
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the server handles both, and there is no third"
)]
pub enum SessionLookupOutcome {
    /// The users who are signed in in the browser; empty if there is none.
    Users(Vec<Authentication>),
    /// A user must first complete a page of the host, for example accept new terms or enter a
    /// second factor. The client gets `interaction_required`.
    InteractionRequired,
}

/// Lookup of the users who are signed in in a browser, for authorization requests with
/// `prompt=none` ([OpenID Connect Core
/// §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)). An implementation
/// reads the session cookie of the host.
///
/// # Contract
///
/// - Each returned [`Authentication`] is of an active session of the browser that sent
///   [`headers`](SessionQuery::headers), with the `auth_time` of its sign-in, and names the session
///   ([`Authentication::with_session`]) if the host has one.
/// - A host with several users in one browser may return only those that match `login_hint`.
/// - Granted scopes of the `Authentication` limit the grant; with `None`, the grant has the
///   requested scopes.
#[async_trait]
pub trait SessionLookup: Send + Sync {
    /// Returns the users who are signed in in the browser.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the sessions cannot be read.
    async fn find_users(&self, query: SessionQuery<'_>) -> Result<SessionLookupOutcome, StoreError>;
}

#[async_trait]
impl<L: SessionLookup + ?Sized> SessionLookup for Arc<L> {
    async fn find_users(&self, query: SessionQuery<'_>) -> Result<SessionLookupOutcome, StoreError> {
        (**self).find_users(query).await
    }
}
