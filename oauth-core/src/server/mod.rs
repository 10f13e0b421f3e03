//! Authorization server of OAuth 2.1 and OpenID Connect, with one method per endpoint.
//!
//! The host mounts each method under its [path](EndpointPaths), shows its own sign-in and consent
//! pages, and writes every [`AuthEvent`] to its audit log. Endpoint methods take an
//! `http::Request<Bytes>`; most return an [`EndpointResponse`]:
//!
//! | path | method of [`AuthorizationServer`] |
//! |---|---|
//! | `/authorize` | [`authorize`](AuthorizationServer::authorize): refuses, or returns an [`Interaction`] for the host |
//! | `/par` | [`par`](AuthorizationServer::par) |
//! | the host's page | [`interaction`](AuthorizationServer::interaction), then [`resume`](AuthorizationServer::resume) |
//! | `/token` | [`token`](AuthorizationServer::token) |
//! | `/oauth/introspect` | [`introspect`](AuthorizationServer::introspect) |
//! | `/oauth/revoke` | [`revoke`](AuthorizationServer::revoke) |
//! | `/userinfo` | [`userinfo`](AuthorizationServer::userinfo) |
//! | `/end_session` | [`end_session`](AuthorizationServer::end_session) |
//! | – (by a timer) | [`send_logouts`](AuthorizationServer::send_logouts) |
//! | each of [`metadata_paths`](AuthorizationServer::metadata_paths) | [`metadata`](AuthorizationServer::metadata) |
//! | `/.well-known/jwks.json` | [`jwks`](AuthorizationServer::jwks) |
//!
//! [`serve`](AuthorizationServer::serve) dispatches to those that need no page.
//!
//! ```
//! use std::time::SystemTime;
//! use oauth_core::jose::{SigningKey, SigningKeys};
//! use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
//! use oauth_core::ports::{OsEntropy, SystemClock};
//! use oauth_core::server::AuthorizationServer;
//!
//! let server = AuthorizationServer::builder("https://auth.example")
//!     .with_clients(MemoryClients::new())
//!     .with_interactions(MemoryInteractions::new())
//!     .with_tokens(MemoryTokens::new())
//!     .with_clock(SystemClock)
//!     .with_entropy(OsEntropy)
//!     .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?))
//!     .with_audience("https://api.example")
//!     .build()?;
//! assert_eq!(server.issuer().as_str(), "https://auth.example");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! The host must provide:
//!
//! - TLS, a limit of the body length, and a rate limit for requests;
//! - a store for the counts of failed client authentications
//!   ([`with_attempts`](AuthorizationServerBuilder::with_attempts)); without this store, guesses at
//!   client secrets are not limited;
//! - a timer that calls the purge methods of its stores, for example every minute.

mod authorization_request;
mod authorize;
mod backchannel_logout;
mod certificates;
mod claims;
mod client_assertion;
mod client_authentication;
mod client_key_sets;
mod config;
mod consent;
mod end_session;
mod endpoint_paths;
mod endpoint_response;
mod form;
mod guesses;
mod interaction;
mod introspect;
mod issue;
mod issuer_keys;
mod metadata;
mod page;
mod par;
mod possession;
mod refresh;
mod resume;
mod revoke;
mod scope_shape;
mod serve;
mod session_lookup;
mod silent;
mod token;
mod userinfo;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

pub use authorize::Authorize;
pub use claims::{ClaimsQuery, ClaimsSource, ClaimsTarget};
pub use config::{AuthorizationServerBuilder, ConfigError, ConfigMistake};
pub use end_session::{EndSession, SignOutRequest};
pub use endpoint_paths::EndpointPaths;
pub use endpoint_response::EndpointResponse;
pub use interaction::{BrowserSecret, Interaction, InteractionDetails};
pub use page::AuthorizationFault;
pub use resume::{Authentication, Consent};
pub use session_lookup::{SessionLookup, SessionLookupOutcome, SessionQuery};

pub use crate::event::{AuthEvent, AuthEventKind, RequestContext};

use crate::grant::{RetryPepper, TokenPolicy};
use crate::ports::{Clock, Entropy};
use crate::store::{ClientStore, ConsentStore, InteractionStore, ReplayStore, SubjectStatus, TokenStore};
use crate::vocabulary::{Audience, Issuer};

/// Default paths of the endpoints, appended to the URL of the issuer. [`EndpointPaths`] changes
/// them.
pub mod path {
    /// The authorization endpoint.
    pub const AUTHORIZE: &str = "/authorize";
    /// The pushed authorization request (PAR) endpoint.
    pub const PAR: &str = "/par";
    /// The token endpoint.
    pub const TOKEN: &str = "/token";
    /// The introspection endpoint.
    pub const INTROSPECT: &str = "/oauth/introspect";
    /// The revocation endpoint.
    pub const REVOKE: &str = "/oauth/revoke";
    /// The UserInfo endpoint.
    pub const USERINFO: &str = "/userinfo";
    /// The sign-out endpoint, to which a client sends the browser.
    pub const END_SESSION: &str = "/end_session";
    /// The JWKS.
    pub const JWKS: &str = "/.well-known/jwks.json";
    /// The metadata of RFC 8414, for an issuer without a path. For other issuers see
    /// [`metadata_paths`](super::AuthorizationServer::metadata_paths).
    pub const OAUTH_METADATA: &str = "/.well-known/oauth-authorization-server";
    /// The metadata of OpenID Connect Discovery, for an issuer without a path.
    pub const OPENID_METADATA: &str = "/.well-known/openid-configuration";
}

/// Authorization server of OAuth 2.1 and OpenID Connect, on stores of the host.
///
/// A clone is cheap: it shares settings and stores with the original.
#[derive(Clone)]
pub struct AuthorizationServer {
    inner: Arc<Inner>,
}

struct Inner {
    issuer: Issuer,
    clients: Arc<dyn ClientStore>,
    interactions: Arc<dyn InteractionStore>,
    tokens: Arc<dyn TokenStore>,
    possession: Option<possession::Possession>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    signing_keys: issuer_keys::IssuerKeys,
    audience: Vec<Audience>,
    policy: TokenPolicy,
    retry_pepper: Option<RetryPepper>,
    options: Options,
    metadata: Bytes,
}

/// Settings that need no check.
#[derive(Default)]
struct Options {
    consents: Option<Arc<dyn ConsentStore>>,
    session_lookup: Option<Arc<dyn SessionLookup>>,
    replays: Option<Arc<dyn ReplayStore>>,
    guesses: Option<guesses::Guesses>,
    pushed_requests_required: bool,
    nonce_required: bool,
    strict_client_assertions: bool,
    claims_by_scope: bool,
    subject_status: Option<Arc<dyn SubjectStatus>>,
    scopes_are_verb_noun: bool,
    descriptions_hidden: bool,
    error_page: Option<page::ErrorPage>,
    claims_source: Option<Arc<dyn ClaimsSource>>,
    certificates: certificates::CertificateUse,
    paths: EndpointPaths,
    client_key_sets: Option<client_key_sets::ClientKeySets>,
    backchannel_logout: Option<backchannel_logout::BackchannelLogout>,
}

impl AuthorizationServer {
    /// Returns a builder for a server with the URL `issuer`.
    pub fn builder(issuer: &str) -> AuthorizationServerBuilder {
        AuthorizationServerBuilder::new(issuer)
    }

    /// Returns the issuer.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        &self.inner.issuer
    }

    /// Returns the paths of the endpoints, under which the host mounts them.
    #[must_use]
    pub fn paths(&self) -> &EndpointPaths {
        &self.inner.options.paths
    }
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServer")
            .field("issuer", &self.inner.issuer)
            .finish_non_exhaustive()
    }
}
