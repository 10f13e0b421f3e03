//! An authorization server as a client sees it.

mod discovery;
mod metadata;
mod place;

pub use discovery::{Discovery, DiscoveryError, WellKnown};
pub use metadata::MetadataError;

use crate::jose::RemoteKeySet;
use crate::ports::Transport;
use crate::vocabulary::{Endpoint, Issuer};

/// An authorization server as a client sees it: what it is called, where its endpoints are, and what it takes there.
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
    pub(super) jwks_uri: Option<Endpoint>,
    pub(super) sends_issuer: bool,
    /// For clients that show a certificate, to prove themselves by or to have their tokens bound to.
    pub(super) mtls_aliases: MtlsAliases,
}

/// Where requests go that a client shows its certificate with,
/// [RFC 8705 §5](https://www.rfc-editor.org/rfc/rfc8705#section-5); where there is no alias, to the endpoint itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct MtlsAliases {
    pub(super) pushed_authorization_request_endpoint: Option<Endpoint>,
    pub(super) token_endpoint: Option<Endpoint>,
    pub(super) userinfo_endpoint: Option<Endpoint>,
    pub(super) revocation_endpoint: Option<Endpoint>,
    pub(super) introspection_endpoint: Option<Endpoint>,
}

impl Provider {
    /// A server that names itself in its authorization responses
    /// ([RFC 9207](https://www.rfc-editor.org/rfc/rfc9207)).
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
            jwks_uri: None,
            sends_issuer: true,
            mtls_aliases: MtlsAliases::default(),
        }
    }

    /// Where authorization requests are pushed ([RFC 9126](https://www.rfc-editor.org/rfc/rfc9126)).
    #[must_use]
    pub fn with_pushed_authorization_request_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.pushed_authorization_request_endpoint = Some(endpoint);
        self
    }

    /// Takes no authorization request but those that were pushed.
    #[must_use]
    pub fn with_required_pushed_authorization_requests(mut self) -> Self {
        self.requires_pushed_authorization_requests = true;
        self
    }

    /// Where it tells about the person who signed in
    /// ([OpenID Connect Core §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo)).
    #[must_use]
    pub fn with_userinfo_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.userinfo_endpoint = Some(endpoint);
        self
    }

    /// Where tokens are revoked ([RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)).
    #[must_use]
    pub fn with_revocation_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.revocation_endpoint = Some(endpoint);
        self
    }

    /// Where it says what a token is worth ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)).
    #[must_use]
    pub fn with_introspection_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.introspection_endpoint = Some(endpoint);
        self
    }

    /// Where its public keys are.
    #[must_use]
    pub fn with_jwks_uri(mut self, uri: Endpoint) -> Self {
        self.jwks_uri = Some(uri);
        self
    }

    /// Accepts authorization responses without `iss`; one that is there must still be right.
    ///
    /// # Security
    ///
    /// For servers whose metadata lacks `authorization_response_iss_parameter_supported`. A client of several
    /// servers needs a redirect URI for each then, or one of them can obtain the codes of another
    /// ([RFC 9700 §4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)).
    #[must_use]
    pub fn danger_without_issuer_in_response(mut self) -> Self {
        self.sends_issuer = false;
        self
    }

    /// Who it is.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Whether it names itself in its authorization responses, so that one without `iss` is refused. Where a server does not, its client
    /// needs a redirect URI that it uses with no other server ([`Discovery`], Security).
    #[must_use]
    pub fn sends_issuer(&self) -> bool {
        self.sends_issuer
    }

    /// Where people are sent to sign in.
    #[must_use]
    pub fn authorization_endpoint(&self) -> &Endpoint {
        &self.authorization_endpoint
    }

    /// Where codes are redeemed and tokens asked for.
    #[must_use]
    pub fn token_endpoint(&self) -> &Endpoint {
        &self.token_endpoint
    }

    /// Where its public keys are, if it publishes any.
    #[must_use]
    pub fn jwks_uri(&self) -> Option<&Endpoint> {
        self.jwks_uri.as_ref()
    }

    /// Its public keys, fetched when they are needed; none if it publishes none.
    #[must_use]
    pub fn keys(&self, transport: impl Transport + 'static) -> Option<RemoteKeySet> {
        let uri = self.jwks_uri.clone()?;
        Some(RemoteKeySet::new(uri, transport))
    }

    /// Where authorization requests are pushed, if they can be.
    #[must_use]
    pub fn pushed_authorization_request_endpoint(&self) -> Option<&Endpoint> {
        self.pushed_authorization_request_endpoint.as_ref()
    }

    /// Where it tells about the person who signed in, if it does.
    #[must_use]
    pub fn userinfo_endpoint(&self) -> Option<&Endpoint> {
        self.userinfo_endpoint.as_ref()
    }

    /// Where tokens are revoked, if they can be.
    #[must_use]
    pub fn revocation_endpoint(&self) -> Option<&Endpoint> {
        self.revocation_endpoint.as_ref()
    }

    /// Where it says what a token is worth, if it does: what an [`Introspection`](crate::resource::Introspection) asks.
    #[must_use]
    pub fn introspection_endpoint(&self) -> Option<&Endpoint> {
        self.introspection_endpoint.as_ref()
    }

    /// The same for whoever shows a certificate there ([RFC 8705 §5](https://www.rfc-editor.org/rfc/rfc8705#section-5)): where the
    /// server has no other place for that, the one of everybody.
    #[must_use]
    pub fn introspection_endpoint_by_certificate(&self) -> Option<&Endpoint> {
        let alias = self.mtls_aliases.introspection_endpoint.as_ref();
        alias.or(self.introspection_endpoint.as_ref())
    }
}
