//! The client: signing people in at an authorization server, and getting tokens from it.
//!
//! Every step is a pair, with the host's own HTTP between the halves, and each half is pure. What a step
//! returns is the proof that the next one asks for, and using it uses it up:
//!
//! ```text
//! Client::authorize ──> URL for the browser + PendingAuthorization  (keep it in the browser's session)
//!    PendingAuthorization::finish(query of the callback) ──> AuthorizationGrant
//! Client::exchange(AuthorizationGrant) ──> HTTP request + PendingExchange
//!    PendingExchange::finish(HTTP response) ──> TokenResponse ──> TokenResponse::identity(keys) ──> IdTokenClaims
//! Client::refresh(RefreshToken) ──> HTTP request + PendingRefresh ──> TokenResponse
//! ```
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::client::{Client, ClientCredentials, Provider};
//! use oauth_core::ports::OsEntropy;
//!
//! let provider = Provider::new(
//!     "https://as.example".parse()?,
//!     "https://as.example/authorize".parse()?,
//!     "https://as.example/token".parse()?,
//! );
//! let client = Client::new(provider, "demo-native".parse()?, "https://app.example/callback".parse()?)
//!     .with_credentials(ClientCredentials::Basic("demo-secret".parse()?));
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let (url, pending) = client.authorize(&"openid read:charges".parse()?, &OsEntropy, now);
//! assert!(url.starts_with("https://as.example/authorize?response_type=code&client_id=demo-native"));
//!
//! // … the browser goes there and comes back …
//! let callback = format!("code=SplxlOBeZQQYbYS6WxSbIA&state={}&iss=https%3A%2F%2Fas.example", pending.state());
//! let grant = pending.finish(&callback, now + Duration::from_secs(30))?;
//! let (request, pending) = client.exchange(grant);
//! assert_eq!(request.uri(), "https://as.example/token");
//! # drop(pending);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authorization;
mod id_token;
mod provider;
mod token;

pub use authorization::{AuthorizationGrant, CallbackError, PendingAuthorization};
pub use provider::{Discovery, DiscoveryError, MetadataError, Provider, WellKnown};
pub use token::{ErrorAnswer, PendingExchange, PendingRefresh, TokenError, TokenResponse};

use crate::jose::SignedClientAssertion;
use crate::secret::ClientSecret;
use crate::vocabulary::{ClientId, RedirectUri};

/// How a client proves to be itself at the token endpoint,
/// [RFC 6749 §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3).
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum ClientCredentials {
    /// A public client proves nothing: PKCE alone ties the code to it.
    None,
    /// `client_secret_basic`: in the `Authorization` header.
    Basic(ClientSecret),
    /// `client_secret_post`: in the form.
    Post(ClientSecret),
    /// `private_key_jwt`: no secret that the server could lose. The server takes each assertion once, so that every
    /// request needs [`Client::with_credentials`] anew.
    Assertion(SignedClientAssertion),
}

/// A registered client of one server.
#[derive(Clone, Debug)]
pub struct Client {
    provider: Provider,
    client_id: ClientId,
    redirect_uri: RedirectUri,
    credentials: ClientCredentials,
}

impl Client {
    /// A public client.
    #[must_use]
    pub fn new(provider: Provider, client_id: ClientId, redirect_uri: RedirectUri) -> Self {
        Self {
            provider,
            client_id,
            redirect_uri,
            credentials: ClientCredentials::None,
        }
    }

    /// Makes it confidential.
    #[must_use]
    pub fn with_credentials(mut self, credentials: ClientCredentials) -> Self {
        self.credentials = credentials;
        self
    }
}
