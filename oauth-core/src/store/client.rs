use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

#[cfg(feature = "_signatures")]
use super::{ClientKeys, ClientKeysUri};
use super::{ClientSecrets, RegisteredCertificates};
#[cfg(feature = "_signatures")]
use crate::jose::Algorithm;
use crate::lifetime::{AccessTokenLifetime, RefreshTokenLifetime};
use crate::mtls::CertificateName;
use crate::ports::StoreError;
use crate::vocabulary::{
    Audience, ClientId, Confirmation, Endpoint, RedirectUri, RegisteredRedirectUri, ResponseMode, Scopes,
};

/// A registered client.
///
/// Forbidden combinations have no effect. A redirect URI with any port never matches for a
/// confidential client, and a public client cannot use the client credentials grant.
///
/// ```
/// use oauth_core::secret::ClientSecret;
/// use oauth_core::store::{ClientSecrets, GrantType, RegisteredClient};
/// use oauth_core::vocabulary::RegisteredRedirectUri;
///
/// let secret: ClientSecret = "a secret of 256 random bits".parse()?;
/// let web = RegisteredClient::confidential("web".parse()?, ClientSecrets::new(&secret))
///     .with_redirect_uri(RegisteredRedirectUri::exact("https://app.example/callback")?)
///     .with_scopes("openid read:charges".parse()?);
/// assert!(web.may_use(GrantType::RefreshToken));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RegisteredClient {
    /// Client identifier, the parameter `client_id`.
    pub id: ClientId,
    /// Name of the client on consent pages.
    pub name: Option<String>,
    /// Authentication method of the client. The server refuses all other methods.
    pub authentication: ClientAuthentication,
    /// Registered redirect URIs.
    pub redirect_uris: Vec<RegisteredRedirectUri>,
    /// URIs to which the server may redirect a browser after a sign-out.
    pub post_logout_redirect_uris: Vec<RedirectUri>,
    /// URL to which the server sends logout tokens, `backchannel_logout_uri`.
    pub backchannel_logout_uri: Option<Endpoint>,
    /// Grant types that the client may use.
    pub grant_types: BTreeSet<GrantType>,
    /// Scopes that the client may request.
    pub scopes: Scopes,
    /// Audiences of the client, if it is a resource server. It may introspect access tokens for any
    /// of these.
    pub audiences: BTreeSet<Audience>,
    /// Lifetime of the client's access tokens; `None` uses the lifetime of the server.
    pub access_token_lifetime: Option<AccessTokenLifetime>,
    /// Lifetime of the client's refresh tokens; `None` uses the lifetime of the server.
    pub refresh_token_lifetime: Option<RefreshTokenLifetime>,
    /// Required binding of the client's tokens. With `None`, a request with a DPoP proof gets
    /// tokens bound to its key, and a request without a proof gets bearer tokens.
    pub sender_constraint: Option<SenderConstraint>,
    /// Signature algorithm of the client's ID tokens, `id_token_signed_response_alg`; see
    /// [`with_id_token_algorithm`](Self::with_id_token_algorithm).
    #[cfg(feature = "_signatures")]
    #[serde(default)]
    pub id_token_algorithm: Option<Algorithm>,
    keeps_refresh_tokens: bool,
    is_state_optional: bool,
    is_consent_implied: bool,
    remembers_consent_without_https: bool,
    takes_fragments: bool,
}

impl RegisteredClient {
    /// Creates a public client, such as a native or browser application, without scopes. It may use
    /// the code and refresh grants.
    #[must_use]
    pub fn public(id: ClientId) -> Self {
        Self::new(id, ClientAuthentication::None)
    }

    /// Creates a client that authenticates by `client_secret_basic`, without scopes. It may use the
    /// code and refresh grants.
    #[must_use]
    pub fn confidential(id: ClientId, secrets: ClientSecrets) -> Self {
        Self::new(id, ClientAuthentication::SecretBasic(secrets))
    }

    /// Creates a client that authenticates by `private_key_jwt`, without scopes. It may use the
    /// code and refresh grants.
    #[cfg(feature = "_signatures")]
    #[must_use]
    pub fn keyed(id: ClientId, keys: ClientKeys) -> Self {
        Self::new(id, ClientAuthentication::PrivateKeyJwt(keys))
    }

    /// Creates a client that authenticates by `private_key_jwt` with keys at its `jwks_uri`,
    /// without scopes. It may use the code and refresh grants. The server must have a [transport
    /// for client keys](crate::server::AuthorizationServerBuilder::with_client_key_transport).
    #[cfg(feature = "_signatures")]
    #[must_use]
    pub fn keyed_at(id: ClientId, keys: ClientKeysUri) -> Self {
        Self::new(id, ClientAuthentication::PrivateKeyJwtAt(keys))
    }

    /// Creates a client that authenticates by `tls_client_auth`, with a CA-issued certificate of
    /// the given name, without scopes. It may use the code and refresh grants.
    #[must_use]
    pub fn tls(id: ClientId, name: CertificateName) -> Self {
        Self::new(id, ClientAuthentication::Tls(name))
    }

    /// Creates a client that authenticates by `self_signed_tls_client_auth`, with a registered
    /// certificate, without scopes. It may use the code and refresh grants.
    #[must_use]
    pub fn self_signed_tls(id: ClientId, certificates: RegisteredCertificates) -> Self {
        Self::new(id, ClientAuthentication::SelfSignedTls(certificates))
    }

    fn new(id: ClientId, authentication: ClientAuthentication) -> Self {
        Self {
            id,
            name: None,
            authentication,
            redirect_uris: Vec::new(),
            post_logout_redirect_uris: Vec::new(),
            backchannel_logout_uri: None,
            grant_types: BTreeSet::from([GrantType::AuthorizationCode, GrantType::RefreshToken]),
            scopes: Scopes::default(),
            audiences: BTreeSet::new(),
            access_token_lifetime: None,
            refresh_token_lifetime: None,
            sender_constraint: None,
            #[cfg(feature = "_signatures")]
            id_token_algorithm: None,
            keeps_refresh_tokens: false,
            is_state_optional: false,
            is_consent_implied: false,
            remembers_consent_without_https: false,
            takes_fragments: false,
        }
    }

    /// Sets the name of the client on consent pages.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Changes a client of `client_secret_basic` to `client_secret_post`. Clients of other methods
    /// do not change.
    #[must_use]
    pub fn with_secret_post(mut self) -> Self {
        if let ClientAuthentication::SecretBasic(secrets) = self.authentication {
            self.authentication = ClientAuthentication::SecretPost(secrets);
        }
        self
    }

    /// Adds a redirect URI.
    #[must_use]
    pub fn with_redirect_uri(mut self, uri: RegisteredRedirectUri) -> Self {
        self.redirect_uris.push(uri);
        self
    }

    /// Adds a URI to which the server may redirect a browser after a sign-out,
    /// `post_logout_redirect_uris` ([OpenID Connect RP-Initiated Logout
    /// §3.1](https://openid.net/specs/openid-connect-rpinitiated-1_0.html#ClientMetadata)). It must
    /// match byte for byte.
    #[must_use]
    pub fn with_post_logout_redirect_uri(mut self, uri: RedirectUri) -> Self {
        self.post_logout_redirect_uris.push(uri);
        self
    }

    /// Sets the URL to which the server sends a logout token when a session of the client's user
    /// ends, `backchannel_logout_uri` ([OpenID Connect Back-Channel Logout
    /// §2.2](https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRegistration)). The
    /// token always has `sid`. The server must
    /// [send logouts](crate::server::AuthorizationServerBuilder::with_backchannel_logout).
    #[must_use]
    pub fn with_backchannel_logout_uri(mut self, uri: Endpoint) -> Self {
        self.backchannel_logout_uri = Some(uri);
        self
    }

    /// Replaces the allowed grant types.
    #[must_use]
    pub fn with_grant_types(mut self, grant_types: impl IntoIterator<Item = GrantType>) -> Self {
        self.grant_types = grant_types.into_iter().collect();
        self
    }

    /// Replaces the allowed scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Allows the client to introspect access tokens for `audience`.
    #[must_use]
    pub fn with_audience(mut self, audience: Audience) -> Self {
        self.audiences.insert(audience);
        self
    }

    /// Sets the lifetime of the client's access tokens. If the tokens are JWTs and `lifetime`
    /// exceeds 15 minutes, the lifetime of the server applies.
    #[must_use]
    pub const fn with_access_token_lifetime(mut self, lifetime: AccessTokenLifetime) -> Self {
        self.access_token_lifetime = Some(lifetime);
        self
    }

    /// Sets the lifetime of the client's refresh tokens. Existing families keep their expiry.
    #[must_use]
    pub const fn with_refresh_token_lifetime(mut self, lifetime: RefreshTokenLifetime) -> Self {
        self.refresh_token_lifetime = Some(lifetime);
        self
    }

    /// Requires this binding for all tokens of the client.
    #[must_use]
    pub const fn with_sender_constraint(mut self, constraint: SenderConstraint) -> Self {
        self.sender_constraint = Some(constraint);
        self
    }

    /// Disables rotation for the client. A refresh then returns only an access token. The refresh
    /// token is valid until its family expires, without an idle timeout. FAPI 2.0 recommends this
    /// for clients that authenticate: rotation gives them no further protection, and a lost
    /// response of a rotation leaves them without a valid refresh token.
    ///
    /// # Errors
    ///
    /// [`NotSenderConstrained`] for a public client, and for a client without a [sender
    /// constraint](Self::with_sender_constraint). For these clients, only rotation detects a stolen
    /// refresh token.
    pub fn with_kept_refresh_tokens(mut self) -> Result<Self, NotSenderConstrained> {
        self.keeps_refresh_tokens = true;
        if self.rotates_refresh_tokens() {
            return Err(NotSenderConstrained);
        }
        Ok(self)
    }

    /// Sets the signature algorithm of the client's ID tokens, `id_token_signed_response_alg`
    /// ([OpenID Connect Registration
    /// §2](https://openid.net/specs/openid-connect-registration-1_0.html#ClientMetadata)). The
    /// server needs a signing key of this algorithm; without it, the client's authorization
    /// requests get `unauthorized_client`.
    ///
    /// Default: RS256 if the server has such a key, otherwise the algorithm of its access tokens.
    #[cfg(feature = "_signatures")]
    #[must_use]
    pub const fn with_id_token_algorithm(mut self, algorithm: Algorithm) -> Self {
        self.id_token_algorithm = Some(algorithm);
        self
    }

    /// Accepts authorization requests without `state`, for a client that sends none.
    ///
    /// # Security
    ///
    /// Without a state, only PKCE protects the client from an attacker who makes a browser complete
    /// the attacker's sign-in ([RFC 9700
    /// §4.7.1](https://www.rfc-editor.org/rfc/rfc9700#section-4.7.1)). The client must therefore
    /// bind the code verifier to the browser.
    #[must_use]
    pub const fn with_optional_state(mut self) -> Self {
        self.is_state_optional = true;
        self
    }

    /// Requires no consent of the user, for a client of the operator of the server. A request with
    /// `prompt=none` is then answered without a stored consent.
    ///
    /// # Security
    ///
    /// Not for clients of others: any page could then get tokens of a signed-in user without a
    /// question.
    #[must_use]
    pub const fn with_implied_consent(mut self) -> Self {
        self.is_consent_implied = true;
        self
    }

    /// Returns `true` if the client needs no consent of the user.
    #[must_use]
    pub const fn is_consent_implied(&self) -> bool {
        self.is_consent_implied
    }

    /// Lets a stored consent cover a public client with a redirect URI that is not `https`, for
    /// silent renewal on a development machine.
    ///
    /// # Security
    ///
    /// Any application on the user's device can then get tokens as this client, without a question
    /// ([RFC 8252 §8.6](https://www.rfc-editor.org/rfc/rfc8252#section-8.6)).
    #[must_use]
    pub const fn danger_remember_consent_without_https(mut self) -> Self {
        self.remembers_consent_without_https = true;
        self
    }

    /// Returns `true` if a stored consent covers requests with this redirect URI: the client is
    /// confidential, or the URI is `https`.
    #[must_use]
    pub fn may_remember_consent(&self, redirect_uri: &RedirectUri) -> bool {
        self.is_confidential()
            || redirect_uri.as_str().starts_with("https://")
            || self.remembers_consent_without_https
    }

    /// Allows the response mode `fragment`, for an application that runs in the browser and
    /// requests it. By default such a request gets `invalid_request`.
    ///
    /// # Security
    ///
    /// Browsers keep a fragment across redirects. If the page at the redirect URI does not read it
    /// at once, a later page can read the code.
    #[must_use]
    pub const fn with_fragment_responses(mut self) -> Self {
        self.takes_fragments = true;
        self
    }

    /// Returns `true` if the client may request this response mode.
    #[must_use]
    pub const fn may_respond_in(&self, mode: ResponseMode) -> bool {
        self.takes_fragments || !matches!(mode, ResponseMode::Fragment)
    }

    /// Returns `true` if the client may omit `state`.
    #[must_use]
    pub const fn is_state_optional(&self) -> bool {
        self.is_state_optional
    }

    /// Returns `true` if each refresh returns a new refresh token. `false` only if
    /// [`with_kept_refresh_tokens`](Self::with_kept_refresh_tokens) was called, and the client is
    /// still confidential and still has a sender constraint.
    #[must_use]
    pub const fn rotates_refresh_tokens(&self) -> bool {
        !(self.keeps_refresh_tokens && self.is_confidential() && self.sender_constraint.is_some())
    }

    /// Returns `true` if the [`sender_constraint`](Self::sender_constraint) allows a token with
    /// this binding; `None` means a bearer token.
    #[must_use]
    pub const fn may_have_bound(&self, confirmation: Option<Confirmation>) -> bool {
        match self.sender_constraint {
            None => true,
            Some(SenderConstraint::Dpop) => matches!(confirmation, Some(Confirmation::Jkt(_))),
            Some(SenderConstraint::MutualTls) => matches!(confirmation, Some(Confirmation::Certificate(_))),
        }
    }

    /// Returns `true` if the client has an authentication method other than `none`.
    #[must_use]
    pub const fn is_confidential(&self) -> bool {
        !matches!(self.authentication, ClientAuthentication::None)
    }

    /// Returns `true` if the client is registered for the grant type.
    #[must_use]
    pub fn may_use(&self, grant_type: GrantType) -> bool {
        self.grant_types.contains(&grant_type)
    }

    /// Returns `true` if the server may redirect a browser to `uri`. The URI must equal a
    /// registered URI byte for byte. For a public client, it may also match a registered loopback
    /// or localhost URI with another port ([RFC 8252
    /// §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)).
    #[must_use]
    pub fn may_redirect_to(&self, uri: &RedirectUri) -> bool {
        self.redirect_uris
            .iter()
            .filter(|registered| !(registered.is_any_port() && self.is_confidential()))
            .any(|registered| registered.matches(uri))
    }
}

/// Required binding of a client's tokens.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SenderConstraint {
    /// The DPoP key that the client proves with each request: `dpop_bound_access_tokens`, [RFC 9449
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9449#section-5.2).
    Dpop,
    /// The TLS client certificate of the connection: `tls_client_certificate_bound_access_tokens`,
    /// [RFC 8705 §3.4](https://www.rfc-editor.org/rfc/rfc8705#section-3.4).
    MutualTls,
}

/// The client is public, or has no sender constraint.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("only a confidential client with a sender constraint may keep its refresh token")]
pub struct NotSenderConstrained;

/// Authentication method of a client, [RFC 6749
/// §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// `none`: a public client, which sends only its `client_id`.
    None,
    /// `client_secret_basic`: the secret in the `Authorization` header.
    SecretBasic(ClientSecrets),
    /// `client_secret_post`: the secret in the form.
    SecretPost(ClientSecrets),
    /// `private_key_jwt`: an assertion signed with a key of the client, [RFC 7523
    /// §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2).
    #[cfg(feature = "_signatures")]
    PrivateKeyJwt(ClientKeys),
    /// `private_key_jwt`, with the keys at the client's `jwks_uri`.
    #[cfg(feature = "_signatures")]
    PrivateKeyJwtAt(ClientKeysUri),
    /// `tls_client_auth`: a CA-issued certificate with this name, [RFC 8705
    /// §2.1](https://www.rfc-editor.org/rfc/rfc8705#section-2.1).
    Tls(CertificateName),
    /// `self_signed_tls_client_auth`: a registered certificate, from any issuer, [RFC 8705
    /// §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2).
    SelfSignedTls(RegisteredCertificates),
}

impl ClientAuthentication {
    /// Returns the secrets; `None` if the method uses no secrets.
    #[must_use]
    pub const fn secrets(&self) -> Option<&ClientSecrets> {
        match self {
            Self::None | Self::Tls(_) | Self::SelfSignedTls(_) => None,
            Self::SecretBasic(secrets) | Self::SecretPost(secrets) => Some(secrets),
            #[cfg(feature = "_signatures")]
            Self::PrivateKeyJwt(_) | Self::PrivateKeyJwtAt(_) => None,
        }
    }
}

/// Grant type of the token endpoint.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantType {
    /// `authorization_code`, [RFC 6749 §4.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1).
    AuthorizationCode,
    /// `client_credentials`, [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4).
    ClientCredentials,
    /// `refresh_token`, [RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6).
    RefreshToken,
}

impl GrantType {
    /// All supported grant types.
    pub const ALL: [Self; 3] = [
        Self::AuthorizationCode,
        Self::ClientCredentials,
        Self::RefreshToken,
    ];

    /// Returns the value of `grant_type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::ClientCredentials => "client_credentials",
            Self::RefreshToken => "refresh_token",
        }
    }

    /// Parses a value of `grant_type`; `None` for an unsupported value.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.as_str() == name)
    }
}

/// Store of registered clients.
///
/// # Contract
///
/// - Every lookup after `put_client` returns the whole new record.
/// - Client identifiers are compared byte for byte, without case folding or trimming.
#[async_trait]
pub trait ClientStore: Send + Sync {
    /// Returns the client with this identifier; `None` if it is not registered.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError>;

    /// Registers the client, or replaces the whole record with the same identifier.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost. Retrying is safe.
    async fn put_client(&self, client: RegisteredClient) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: ClientStore + ?Sized> ClientStore for Arc<S> {
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        (**self).client(id).await
    }

    async fn put_client(&self, client: RegisteredClient) -> Result<(), StoreError> {
        (**self).put_client(client).await
    }
}
