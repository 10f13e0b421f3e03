use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

#[cfg(feature = "_signatures")]
use super::ClientKeys;
use super::{ClientSecrets, RegisteredCertificates};
use crate::lifetime::{AccessTokenLifetime, RefreshTokenLifetime};
use crate::mtls::CertificateName;
use crate::ports::StoreError;
use crate::vocabulary::{Audience, ClientId, Confirmation, RedirectUri, RegisteredRedirectUri, Scopes};

/// What the server knows of a client.
///
/// A combination that the rules do not allow is inert rather than dangerous: a loopback redirect URI of a confidential
/// client matches nothing, and a public client is never given client credentials.
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
    /// What the client calls itself on the wire.
    pub id: ClientId,
    /// What a consent page calls it.
    pub name: Option<String>,
    /// How it authenticates: this way and no other.
    pub authentication: ClientAuthentication,
    /// Where a browser may be sent back to.
    pub redirect_uris: Vec<RegisteredRedirectUri>,
    /// The grants it may ask for.
    pub grant_types: BTreeSet<GrantType>,
    /// The scopes it may ask for.
    pub scopes: Scopes,
    /// The resource servers it speaks for: it may introspect access tokens meant for one of these.
    pub audiences: BTreeSet<Audience>,
    /// How long its access tokens live, where that is not what the server says.
    pub access_token_lifetime: Option<AccessTokenLifetime>,
    /// How long its chains of refresh tokens live, where that is not what the server says.
    pub refresh_token_lifetime: Option<RefreshTokenLifetime>,
    /// What each of its tokens is bound to. A client without it gets what it proves to have a key for, and bearer tokens otherwise.
    pub sender_constraint: Option<SenderConstraint>,
    keeps_refresh_tokens: bool,
}

impl RegisteredClient {
    /// A client that can keep no secret, such as a native or browser application: code and refresh grants, no scopes yet.
    #[must_use]
    pub fn public(id: ClientId) -> Self {
        Self::new(id, ClientAuthentication::None)
    }

    /// A client that authenticates by `client_secret_basic`: code and refresh grants, no scopes yet.
    #[must_use]
    pub fn confidential(id: ClientId, secrets: ClientSecrets) -> Self {
        Self::new(id, ClientAuthentication::SecretBasic(secrets))
    }

    /// A client that authenticates by `private_key_jwt`: code and refresh grants, no scopes yet.
    #[cfg(feature = "_signatures")]
    #[must_use]
    pub fn keyed(id: ClientId, keys: ClientKeys) -> Self {
        Self::new(id, ClientAuthentication::PrivateKeyJwt(keys))
    }

    /// A client that authenticates by `tls_client_auth`, with a certificate in which an authority calls it `name`: code and refresh
    /// grants, no scopes yet.
    #[must_use]
    pub fn tls(id: ClientId, name: CertificateName) -> Self {
        Self::new(id, ClientAuthentication::Tls(name))
    }

    /// A client that authenticates by `self_signed_tls_client_auth`, with a certificate that is registered itself: code and refresh
    /// grants, no scopes yet.
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
            grant_types: BTreeSet::from([GrantType::AuthorizationCode, GrantType::RefreshToken]),
            scopes: Scopes::default(),
            audiences: BTreeSet::new(),
            access_token_lifetime: None,
            refresh_token_lifetime: None,
            sender_constraint: None,
            keeps_refresh_tokens: false,
        }
    }

    /// Calls the client `name` on consent pages.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Moves a confidential client to `client_secret_post`. A public client stays as it is.
    #[must_use]
    pub fn with_secret_post(mut self) -> Self {
        if let ClientAuthentication::SecretBasic(secrets) = self.authentication {
            self.authentication = ClientAuthentication::SecretPost(secrets);
        }
        self
    }

    /// Registers one more redirect URI.
    #[must_use]
    pub fn with_redirect_uri(mut self, uri: RegisteredRedirectUri) -> Self {
        self.redirect_uris.push(uri);
        self
    }

    /// Allows these grants and no others.
    #[must_use]
    pub fn with_grant_types(mut self, grant_types: impl IntoIterator<Item = GrantType>) -> Self {
        self.grant_types = grant_types.into_iter().collect();
        self
    }

    /// Allows these scopes and no others.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Lets the client introspect access tokens that are meant for `audience`.
    #[must_use]
    pub fn with_audience(mut self, audience: Audience) -> Self {
        self.audiences.insert(audience);
        self
    }

    /// Lets its access tokens live for this long: a JWT for 15 minutes at most, and as the server says where it is longer.
    #[must_use]
    pub const fn with_access_token_lifetime(mut self, lifetime: AccessTokenLifetime) -> Self {
        self.access_token_lifetime = Some(lifetime);
        self
    }

    /// Lets its chains of refresh tokens live for this long; those that have begun keep their end.
    #[must_use]
    pub const fn with_refresh_token_lifetime(mut self, lifetime: RefreshTokenLifetime) -> Self {
        self.refresh_token_lifetime = Some(lifetime);
        self
    }

    /// Refuses the client every token that is not bound to its sender in this way.
    #[must_use]
    pub const fn with_sender_constraint(mut self, constraint: SenderConstraint) -> Self {
        self.sender_constraint = Some(constraint);
        self
    }

    /// Lets the client keep its refresh token: a refresh gives an access token alone, and the chain lives as long as its first token,
    /// however idle. FAPI 2.0 asks for it, because a client that authenticates has no need of rotation and loses answers.
    ///
    /// # Errors
    ///
    /// [`NotSenderConstrained`] for a public client, and for one without a [sender constraint](Self::with_sender_constraint): a refresh
    /// token that anybody can use must change hands visibly.
    pub fn with_kept_refresh_tokens(mut self) -> Result<Self, NotSenderConstrained> {
        self.keeps_refresh_tokens = true;
        if self.rotates_refresh_tokens() {
            return Err(NotSenderConstrained);
        }
        Ok(self)
    }

    /// Whether each refresh gives another refresh token: always, unless the client was
    /// [registered to keep its own](Self::with_kept_refresh_tokens) and is still one that may.
    #[must_use]
    pub const fn rotates_refresh_tokens(&self) -> bool {
        !(self.keeps_refresh_tokens && self.is_confidential() && self.sender_constraint.is_some())
    }

    /// Whether a token that is bound to this, or to nothing, is one that the client may have.
    #[must_use]
    pub const fn may_have_bound(&self, confirmation: Option<Confirmation>) -> bool {
        match self.sender_constraint {
            None => true,
            Some(SenderConstraint::Dpop) => matches!(confirmation, Some(Confirmation::Jkt(_))),
            Some(SenderConstraint::MutualTls) => matches!(confirmation, Some(Confirmation::Certificate(_))),
        }
    }

    /// Whether the client authenticates at all.
    #[must_use]
    pub const fn is_confidential(&self) -> bool {
        !matches!(self.authentication, ClientAuthentication::None)
    }

    /// Whether the grant is registered.
    #[must_use]
    pub fn may_use(&self, grant_type: GrantType) -> bool {
        self.grant_types.contains(&grant_type)
    }

    /// Whether a browser may be sent to `uri`: equal byte for byte to a registered one, or to a loopback one of a
    /// public client but for the port ([RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)).
    #[must_use]
    pub fn may_redirect_to(&self, uri: &RedirectUri) -> bool {
        self.redirect_uris
            .iter()
            .filter(|registered| !(registered.is_loopback_any_port() && self.is_confidential()))
            .any(|registered| registered.matches(uri))
    }
}

/// What the tokens of a client are bound to.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SenderConstraint {
    /// A key that it proves to have with each request: `dpop_bound_access_tokens`,
    /// [RFC 9449 §5.2](https://www.rfc-editor.org/rfc/rfc9449#section-5.2).
    Dpop,
    /// The certificate that it connects with: `tls_client_certificate_bound_access_tokens`,
    /// [RFC 8705 §3.4](https://www.rfc-editor.org/rfc/rfc8705#section-3.4).
    MutualTls,
}

/// The client is not one that authenticates and whose tokens are bound to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("only a confidential client with a sender constraint keeps its refresh tokens")]
pub struct NotSenderConstrained;

/// How a client proves who it is, [RFC 6749 §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// `none`: a public client, which sends its `client_id` only.
    None,
    /// `client_secret_basic`: the secret in the `Authorization` header.
    SecretBasic(ClientSecrets),
    /// `client_secret_post`: the secret in the form.
    SecretPost(ClientSecrets),
    /// `private_key_jwt`: an assertion under a key of the client,
    /// [RFC 7523 §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2).
    #[cfg(feature = "_signatures")]
    PrivateKeyJwt(ClientKeys),
    /// `tls_client_auth`: a certificate of an authority, with this name,
    /// [RFC 8705 §2.1](https://www.rfc-editor.org/rfc/rfc8705#section-2.1).
    Tls(CertificateName),
    /// `self_signed_tls_client_auth`: this very certificate, whoever signed it,
    /// [RFC 8705 §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2).
    SelfSignedTls(RegisteredCertificates),
}

impl ClientAuthentication {
    /// The secrets, when the client has any.
    #[must_use]
    pub const fn secrets(&self) -> Option<&ClientSecrets> {
        match self {
            Self::None | Self::Tls(_) | Self::SelfSignedTls(_) => None,
            Self::SecretBasic(secrets) | Self::SecretPost(secrets) => Some(secrets),
            #[cfg(feature = "_signatures")]
            Self::PrivateKeyJwt(_) => None,
        }
    }
}

/// A grant that the token endpoint knows.
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
    /// Every grant on offer.
    pub const ALL: [Self; 3] = [
        Self::AuthorizationCode,
        Self::ClientCredentials,
        Self::RefreshToken,
    ];

    /// The value of `grant_type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::ClientCredentials => "client_credentials",
            Self::RefreshToken => "refresh_token",
        }
    }

    /// The grant of that name, when it is on offer.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.as_str() == name)
    }
}

/// Finds registered clients.
///
/// # What an implementation must guarantee
///
/// A client that was put is found by every later lookup, whole, and an id is compared byte for byte: no folding of
/// case, no trimming.
#[async_trait]
pub trait ClientStore: Send + Sync {
    /// The client of that id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError>;

    /// Registers the client, or replaces the whole record of its id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost; putting the same client again is safe.
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
