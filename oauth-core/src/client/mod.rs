//! The client: signing people in at an authorization server, and getting tokens from it.
//!
//! A [`Client`] is one registration at one [`Provider`]. What it asks the server directly is a [`Call`], which is
//! [sent](Call::send) as one step, or taken apart into a request and what takes the response by whoever does their own HTTP. What a
//! step returns is the proof that the next one asks for, and using it uses it up:
//!
//! ```text
//! Client::sign_in ──> URL for the browser + PendingAuthorization     (keep it in the browser's session)
//!    = Client::push where the server takes pushed requests, Client::authorize elsewhere
//! PendingAuthorization::into_text ──> PendingText    Client::resume(text) ──> PendingAuthorization    on another machine
//! PendingAuthorization::finish(query of the callback) ──> Call ──> TokenResponse
//!    TokenResponse::identity(keys) ──> IdTokenClaims                  who signed in
//!    TokenResponse::user_info(identity) ──> Call ──> UserInfo         what else is known of them
//!    TokenResponse::call(request) ──> Call ──> HTTP response          of the API that the token is for
//!    TokenResponse::refresh ──> Call ──> TokenResponse                for the same person
//! Client::refresh (a stored token), Client::client_credentials ──> Call ──> TokenResponse
//! TokenSource::token ──> TokenResponse                                tokens that live, refreshed once for whoever asks at once
//! Client::revoke_refresh_token, Client::revoke_access_token ──> Call
//!
//! Call::send(ports) ──> answer
//! Call::start ──> HTTP request + Pending    Pending::retry(response) ──> HTTP request, once at most
//!                                           Pending::finish(response) ──> answer
//! ```
//!
//! A [`TokenSource`] holds the tokens of a sign-in, or of the client itself, for all who call APIs with them: it refreshes them when they
//! end, once however many ask, and tells the host's [`TokenSink`] before anybody is given new ones.
//!
//! With a [`DpopKey`] the tokens are bound to that key: each request carries a proof, with the nonce that its server gave out last, and
//! is sent once more where it wants another.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::client::{AuthorizationParams, Client, ClientCredentials, Provider};
//! use oauth_core::ports::OsEntropy;
//!
//! let provider = Provider::new(
//!     "https://as.example".parse()?,
//!     "https://as.example/authorize".parse()?,
//!     "https://as.example/token".parse()?,
//! );
//! let client = Client::new(provider, "demo-web".parse()?)
//!     .with_credentials(ClientCredentials::Basic("demo-secret".parse()?));
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let params = AuthorizationParams::new("https://app.example/callback".parse()?, "openid read:charges".parse()?);
//! let (url, pending) = client.authorize(&params, &OsEntropy, now)?;
//! assert!(url.starts_with("https://as.example/authorize?response_type=code&client_id=demo-web"));
//!
//! // … the browser goes there and comes back …
//! let callback = format!("code=SplxlOBeZQQYbYS6WxSbIA&state={}&iss=https%3A%2F%2Fas.example", pending.state());
//! let call = pending.finish(&callback, now + Duration::from_secs(30))?;
//! let (request, pending) = call.start(&OsEntropy, now + Duration::from_secs(30))?;
//! assert_eq!(request.uri(), "https://as.example/token");
//! # drop(pending);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authorization;
mod authorization_params;
mod call;
mod challenge;
mod credentials;
mod dpop_key;
mod draft;
pub(crate) mod form;
mod id_token;
mod lifetime;
mod oauth_error;
mod ports;
mod provider;
mod push;
mod resource;
mod response_error;
mod revocation;
mod token;
mod token_source;
mod user_info;

use std::sync::Arc;

pub use authorization::{CallbackError, InvalidPendingText, PendingAuthorization, PendingText};
pub use authorization_params::{AuthorizationParams, ReservedParameter};
pub use call::{Call, CallError, CallResponse, Pending};
pub use credentials::ClientCredentials;
pub use dpop_key::DpopKey;
pub use oauth_error::OAuthError;
pub use ports::Ports;
pub use provider::{Discovery, DiscoveryError, MetadataError, Provider, WellKnown};
pub use response_error::ResponseError;
pub use token::{TokenError, TokenResponse};
pub use token_source::{ApiError, RefreshError, TokenSink, TokenSource};
pub use user_info::{UserInfo, UserInfoError};

use crate::vocabulary::{ClientId, Endpoint};

/// A registered client of one server.
///
/// Cheap to clone. Its credentials go to this server and to no other: whoever is a client of several has one of these for each
/// ([RFC 9700 §4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)).
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    provider: Provider,
    client_id: ClientId,
    credentials: ClientCredentials,
    dpop: Option<DpopKey>,
    has_certificate_bound_tokens: bool,
}

/// The server does not take requests of this kind.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotOffered {
    /// It takes pushed authorization requests alone.
    #[error("the server takes pushed authorization requests alone")]
    UnpushedAuthorizationRequest,
    /// It takes no pushed authorization requests, as far as is known of it.
    #[error("the server takes no pushed authorization requests")]
    PushedAuthorizationRequest,
    /// It tells about people in the ID token alone, as far as is known of it.
    #[error("the server has no userinfo")]
    UserInfo,
    /// It revokes nothing, as far as is known of it.
    #[error("the server revokes no tokens")]
    Revocation,
}

impl Client {
    /// A public client.
    #[must_use]
    pub fn new(provider: Provider, client_id: ClientId) -> Self {
        let inner = Inner {
            provider,
            client_id,
            credentials: ClientCredentials::None,
            dpop: None,
            has_certificate_bound_tokens: false,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Makes it confidential.
    #[must_use]
    pub fn with_credentials(mut self, credentials: ClientCredentials) -> Self {
        Arc::make_mut(&mut self.inner).credentials = credentials;
        self
    }

    /// Has its tokens bound to a key, which it proves to have with each request: for tokens, with a pushed request, at the userinfo
    /// endpoint and at an API. Tokens of another type are refused then.
    #[must_use]
    pub fn with_dpop(mut self, key: DpopKey) -> Self {
        Arc::make_mut(&mut self.inner).dpop = Some(key);
        self
    }

    /// Has its tokens bound to the certificate that its [`Transport`](crate::ports::Transport) shows, as it is registered with
    /// `tls_client_certificate_bound_access_tokens` ([RFC 8705 §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)): requests go
    /// where the server wants to see one ([§5](https://www.rfc-editor.org/rfc/rfc8705#section-5)), whatever the client proves
    /// itself by, and be it nothing. Of [`ClientCredentials::Certificate`] that is true without.
    #[must_use]
    pub fn with_certificate_bound_tokens(mut self) -> Self {
        Arc::make_mut(&mut self.inner).has_certificate_bound_tokens = true;
        self
    }

    /// The server that it is a client of.
    #[must_use]
    pub fn provider(&self) -> &Provider {
        &self.inner.provider
    }

    /// What the server knows it by.
    #[must_use]
    pub fn client_id(&self) -> &ClientId {
        &self.inner.client_id
    }
}

impl Inner {
    /// Where a client shows a certificate, the server may want it shown elsewhere.
    fn certificate_or<'a>(&'a self, alias: Option<&'a Endpoint>, endpoint: &'a Endpoint) -> &'a Endpoint {
        let is_shown =
            self.has_certificate_bound_tokens || matches!(self.credentials, ClientCredentials::Certificate);
        alias.filter(|_| is_shown).unwrap_or(endpoint)
    }

    fn token_endpoint(&self) -> &Endpoint {
        let alias = self.provider.mtls_aliases.token_endpoint.as_ref();
        self.certificate_or(alias, &self.provider.token_endpoint)
    }

    fn userinfo_endpoint(&self) -> Option<&Endpoint> {
        let alias = self.provider.mtls_aliases.userinfo_endpoint.as_ref();
        Some(self.certificate_or(alias, self.provider.userinfo_endpoint.as_ref()?))
    }
}
