//! OAuth 2.1 and OpenID Connect client: sign-in, token requests, refresh, revocation and discovery.
//!
//! A [`Client`] is one client registration at one authorization server, the [`Provider`]. Each
//! request that the client itself sends to the server is a [`Call`]. [`Call::send`] sends it
//! through the host's [`Ports`]. A host with its own HTTP code uses [`Call::start`], which returns
//! the HTTP request and a [`Pending`] that reads the response. Each step returns the value that the
//! next step consumes:
//!
//! ```text
//! Client::sign_in ──> URL for the browser + PendingAuthorization (for the browser's session)
//!    = Client::push if the server supports pushed requests, else Client::authorize
//! PendingAuthorization::into_text ──> PendingText
//! Client::resume(text) ──> PendingAuthorization                   on another machine
//! PendingAuthorization::finish(query of the callback) ──> Call ──> TokenResponse
//!    TokenResponse::identity(keys) ──> IdTokenClaims              the signed-in user
//!    TokenResponse::user_info(identity) ──> Call ──> UserInfo     further claims about the user
//!    TokenResponse::call(request) ──> Call ──> HTTP response      of an API
//!    TokenResponse::refresh ──> Call ──> TokenResponse            for the same user
//! Client::refresh (a stored token) ──> Call ──> TokenResponse
//! Client::client_credentials ──> Call ──> TokenResponse
//! TokenSource::token ──> TokenResponse                            with single-flight refresh
//! Client::revoke_refresh_token, Client::revoke_access_token ──> Call
//! Client::sign_out_url ──> URL for the browser                    sign-out at the server
//! Client::verify_backchannel_logout(request) ──> LogoutToken      sign-out by the server
//!
//! Call::send(ports) ──> response
//! Call::start ──> HTTP request + Pending
//!    Pending::retry(response) ──> HTTP request, at most once
//!    Pending::finish(response) ──> response
//! ```
//!
//! [`SignIns`] has the routes of a web application that signs its users in. It keeps the pending
//! requests and binds them to their browsers.
//!
//! A [`TokenSource`] holds the tokens of a sign-in, or of the client itself, for all callers of an
//! API. When they expire, it sends one refresh for all concurrent callers (single-flight). It saves
//! new tokens in the host's [`TokenSink`] before it returns them.
//!
//! With a [`DpopKey`] the tokens are bound to that key (DPoP). Each request carries a proof with
//! the newest nonce of its server, and is retried once if the server requires another nonce.
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
//! let redirect_uri = "https://app.example/callback".parse()?;
//! let params = AuthorizationParams::new(redirect_uri, "openid read:charges".parse()?);
//! let (url, pending) = client.authorize(&params, &OsEntropy, now)?;
//! assert!(url.starts_with("https://as.example/authorize?response_type=code&client_id=demo-web"));
//!
//! // … the browser goes there and comes back …
//! let state = pending.state();
//! let callback = format!("code=SplxlOBeZQQ&state={state}&iss=https%3A%2F%2Fas.example");
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
mod logout;
mod oauth_error;
mod ports;
mod provider;
mod push;
mod resource;
mod response_error;
mod revocation;
mod sign_ins;
mod token;
mod token_source;
mod user_info;

use std::sync::Arc;

pub use authorization::{CallbackError, InvalidPendingText, PendingAuthorization, PendingText};
pub use authorization_params::{AuthorizationParams, ReservedParameter};
pub use call::{Call, CallError, CallResponse, Pending};
pub use credentials::ClientCredentials;
pub use dpop_key::DpopKey;
pub use logout::{LogoutError, accept_logout};
pub use oauth_error::OAuthError;
pub use ports::Ports;
pub use provider::{Discovery, DiscoveryError, MetadataError, Provider, WellKnown};
pub use response_error::ResponseError;
pub use sign_ins::{NoIdTokens, SignInError, SignIns, SignedInUser};
pub use token::{TokenError, TokenResponse};
pub use token_source::{ApiError, RefreshError, TokenSink, TokenSource};
pub use user_info::{UserInfo, UserInfoError};

use crate::jose::Algorithm;
use crate::vocabulary::{ClientId, Endpoint};

/// A registered client of one authorization server.
///
/// It is cheap to clone. Its credentials are sent only to this server. An application that is
/// registered at several servers has a `Client` for each ([RFC 9700
/// §4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)).
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
    id_token_algorithm: Option<Algorithm>,
}

/// Error for a kind of request that the server does not support. The request was not sent.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotOffered {
    /// The server accepts only pushed authorization requests.
    #[error("the server accepts only pushed authorization requests")]
    UnpushedAuthorizationRequest,
    /// The server has no known endpoint for pushed authorization requests.
    #[error("the server does not support pushed authorization requests")]
    PushedAuthorizationRequest,
    /// The server has no known UserInfo endpoint.
    #[error("the server has no userinfo endpoint")]
    UserInfo,
    /// The server has no known revocation endpoint.
    #[error("the server has no revocation endpoint")]
    Revocation,
    /// The server has no known sign-out endpoint.
    #[error("the server has no end_session_endpoint")]
    EndSession,
}

impl Client {
    /// Creates a public client.
    #[must_use]
    pub fn new(provider: Provider, client_id: ClientId) -> Self {
        let inner = Inner {
            provider,
            client_id,
            credentials: ClientCredentials::None,
            dpop: None,
            has_certificate_bound_tokens: false,
            id_token_algorithm: None,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Sets the credentials of a confidential client.
    #[must_use]
    pub fn with_credentials(mut self, credentials: ClientCredentials) -> Self {
        Arc::make_mut(&mut self.inner).credentials = credentials;
        self
    }

    /// Binds the tokens to a DPoP key. The client sends a proof with each token request, pushed
    /// request, UserInfo request and API call, and refuses tokens of another type.
    #[must_use]
    pub fn with_dpop(mut self, key: DpopKey) -> Self {
        Arc::make_mut(&mut self.inner).dpop = Some(key);
        self
    }

    /// Binds the tokens to the certificate that the [`Transport`](crate::ports::Transport)
    /// presents. The client must be registered with `tls_client_certificate_bound_access_tokens`
    /// ([RFC 8705 §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)). Requests then go to the
    /// mTLS endpoint aliases of the server
    /// ([§5](https://www.rfc-editor.org/rfc/rfc8705#section-5)), whatever the credentials of the
    /// client are. [`ClientCredentials::Certificate`] alone also selects the aliases.
    #[must_use]
    pub fn with_certificate_bound_tokens(mut self) -> Self {
        Arc::make_mut(&mut self.inner).has_certificate_bound_tokens = true;
        self
    }

    /// Accepts only ID tokens that are signed with this algorithm: the
    /// `id_token_signed_response_alg` that is registered for the client. By default any algorithm
    /// of this crate is accepted, as determined by the server's key.
    #[must_use]
    pub fn with_id_token_algorithm(mut self, algorithm: Algorithm) -> Self {
        Arc::make_mut(&mut self.inner).id_token_algorithm = Some(algorithm);
        self
    }

    /// Returns the server.
    #[must_use]
    pub fn provider(&self) -> &Provider {
        &self.inner.provider
    }

    /// Returns the client identifier.
    #[must_use]
    pub fn client_id(&self) -> &ClientId {
        &self.inner.client_id
    }
}

impl Inner {
    /// Returns the mTLS alias of an endpoint if the client presents a certificate and the server
    /// has an alias; otherwise the endpoint.
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
