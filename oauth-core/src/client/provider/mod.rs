//! Authorization server, as a client knows it.

mod discovery;
mod metadata;
mod place;

pub use discovery::{Discovery, DiscoveryError, WellKnown};
pub use metadata::MetadataError;

use crate::jose::RemoteKeySet;
use crate::ports::Transport;
use crate::vocabulary::{Endpoint, Issuer};

/// Authorization server, as a client knows it: issuer, endpoints and supported features.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Provider {
    pub(super) issuer: Issuer,
    pub(super) authorization_endpoint: Endpoint,
    pub(super) token_endpoint: Endpoint,
    pub(super) pushed_authorization_request_endpoint: Option<Endpoint>,
    pub(super) requires_pushed_authorization_requests: bool,
    pub(super) userinfo_endpoint: Option<Endpoint>,
    pub(super) revocation_endpoint: Option<Endpoint>,
    pub(super) introspection_endpoint: Option<Endpoint>,
    pub(super) end_session_endpoint: Option<Endpoint>,
    pub(super) jwks_uri: Option<Endpoint>,
    pub(super) sends_issuer: bool,
    /// Endpoints for clients that present a certificate.
    pub(super) mtls_aliases: MtlsAliases,
}

/// mTLS endpoint aliases, [RFC 8705 §5](https://www.rfc-editor.org/rfc/rfc8705#section-5). Without
/// an alias, requests with a certificate go to the endpoint itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct MtlsAliases {
    pub(super) pushed_authorization_request_endpoint: Option<Endpoint>,
    pub(super) token_endpoint: Option<Endpoint>,
    pub(super) userinfo_endpoint: Option<Endpoint>,
    pub(super) revocation_endpoint: Option<Endpoint>,
    pub(super) introspection_endpoint: Option<Endpoint>,
}

impl Provider {
    /// Creates the description of a server that sends `iss` in its authorization responses ([RFC
    /// 9207](https://www.rfc-editor.org/rfc/rfc9207)).
    #[must_use]
    pub fn new(issuer: Issuer, authorization_endpoint: Endpoint, token_endpoint: Endpoint) -> Self {
        Self {
            issuer,
            authorization_endpoint,
            token_endpoint,
            pushed_authorization_request_endpoint: None,
            requires_pushed_authorization_requests: false,
            userinfo_endpoint: None,
            revocation_endpoint: None,
            introspection_endpoint: None,
            end_session_endpoint: None,
            jwks_uri: None,
            sends_issuer: true,
            mtls_aliases: MtlsAliases::default(),
        }
    }

    /// Sets the endpoint for pushed authorization requests ([RFC
    /// 9126](https://www.rfc-editor.org/rfc/rfc9126)).
    #[must_use]
    pub fn with_pushed_authorization_request_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.pushed_authorization_request_endpoint = Some(endpoint);
        self
    }

    /// Records that the server accepts only pushed authorization requests.
    /// [`Client::authorize`](crate::client::Client::authorize) then returns an error.
    #[must_use]
    pub fn with_required_pushed_authorization_requests(mut self) -> Self {
        self.requires_pushed_authorization_requests = true;
        self
    }

    /// Sets the UserInfo endpoint ([OpenID Connect Core
    /// §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo)).
    #[must_use]
    pub fn with_userinfo_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.userinfo_endpoint = Some(endpoint);
        self
    }

    /// Sets the revocation endpoint ([RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)).
    #[must_use]
    pub fn with_revocation_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.revocation_endpoint = Some(endpoint);
        self
    }

    /// Sets the introspection endpoint ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)).
    #[must_use]
    pub fn with_introspection_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.introspection_endpoint = Some(endpoint);
        self
    }

    /// Sets the sign-out endpoint ([OpenID Connect RP-Initiated
    /// Logout](https://openid.net/specs/openid-connect-rpinitiated-1_0.html)).
    #[must_use]
    pub fn with_end_session_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.end_session_endpoint = Some(endpoint);
        self
    }

    /// Sets the URL of the JWKS.
    #[must_use]
    pub fn with_jwks_uri(mut self, uri: Endpoint) -> Self {
        self.jwks_uri = Some(uri);
        self
    }

    /// Accepts authorization responses without `iss`. An `iss` that is present must still match.
    ///
    /// # Security
    ///
    /// Use this method only for a server whose metadata lack
    /// `authorization_response_iss_parameter_supported`. A client of several servers then needs a
    /// redirect URI for each; otherwise one server can obtain the codes of another ([RFC 9700
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)).
    #[must_use]
    pub fn danger_without_issuer_in_response(mut self) -> Self {
        self.sends_issuer = false;
        self
    }

    /// Returns the issuer.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Returns `true` if the server sends `iss` in its authorization responses; the client then
    /// refuses a response without it. If `false`, use a separate redirect URI for this server (see
    /// the security section of [`Discovery`]).
    #[must_use]
    pub fn sends_issuer(&self) -> bool {
        self.sends_issuer
    }

    /// Returns the authorization endpoint.
    #[must_use]
    pub fn authorization_endpoint(&self) -> &Endpoint {
        &self.authorization_endpoint
    }

    /// Returns the token endpoint.
    #[must_use]
    pub fn token_endpoint(&self) -> &Endpoint {
        &self.token_endpoint
    }

    /// Returns the URL of the JWKS, if the server has one.
    #[must_use]
    pub fn jwks_uri(&self) -> Option<&Endpoint> {
        self.jwks_uri.as_ref()
    }

    /// Returns a JWKS client that fetches the server's keys when needed; `None` if the server
    /// publishes no keys.
    #[must_use]
    pub fn keys(&self, transport: impl Transport + 'static) -> Option<RemoteKeySet> {
        let uri = self.jwks_uri.clone()?;
        Some(RemoteKeySet::new(uri, transport))
    }

    /// Returns the endpoint for pushed authorization requests, if the server has one.
    #[must_use]
    pub fn pushed_authorization_request_endpoint(&self) -> Option<&Endpoint> {
        self.pushed_authorization_request_endpoint.as_ref()
    }

    /// Returns the UserInfo endpoint, if the server has one.
    #[must_use]
    pub fn userinfo_endpoint(&self) -> Option<&Endpoint> {
        self.userinfo_endpoint.as_ref()
    }

    /// Returns the revocation endpoint, if the server has one.
    #[must_use]
    pub fn revocation_endpoint(&self) -> Option<&Endpoint> {
        self.revocation_endpoint.as_ref()
    }

    /// Returns the sign-out endpoint, if the server has one.
    #[must_use]
    pub fn end_session_endpoint(&self) -> Option<&Endpoint> {
        self.end_session_endpoint.as_ref()
    }

    /// Returns the introspection endpoint, if the server has one, for an
    /// [`Introspection`](crate::resource::Introspection).
    #[must_use]
    pub fn introspection_endpoint(&self) -> Option<&Endpoint> {
        self.introspection_endpoint.as_ref()
    }

    /// Returns the introspection endpoint for callers with a client certificate: the mTLS alias
    /// ([RFC 8705 §5](https://www.rfc-editor.org/rfc/rfc8705#section-5)), or the introspection
    /// endpoint itself if there is no alias.
    #[must_use]
    pub fn introspection_endpoint_by_certificate(&self) -> Option<&Endpoint> {
        let alias = self.mtls_aliases.introspection_endpoint.as_ref();
        alias.or(self.introspection_endpoint.as_ref())
    }
}
