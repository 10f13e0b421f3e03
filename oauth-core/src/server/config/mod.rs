mod mistakes;

use std::fmt;
use std::sync::Arc;

use mistakes::Mistakes;
pub use mistakes::{ConfigError, ConfigMistake};

use super::backchannel_logout::BackchannelLogout;
use super::client_key_sets::ClientKeySets;
use super::guesses::Guesses;
use super::possession::Possession;
use super::{
    AuthorizationFault, AuthorizationServer, ClaimsSource, EndpointPaths, Inner, Options, SessionLookup,
    metadata,
};
use crate::attempts::AttemptPolicy;
use crate::dpop::NonceKey;
use crate::grant::{
    AccessTokenFormat, AccessTokenLifetime, RefreshTokenLifetime, RetryPepper, RetryWindow, TokenPolicy,
};
use crate::jose::SigningKeys;
use crate::ports::{Clock, Entropy, Transport};
use crate::store::{
    AttemptStore, ClientStore, ConsentStore, InteractionStore, LogoutStore, ReplayStore, SubjectStatus,
    TokenStore,
};
use crate::vocabulary::{Issuer, Scopes};

/// Builder for [`AuthorizationServer`].
///
/// Required: the client, interaction and token stores, the clock, the source of randomness, the
/// signing keys and an audience.
#[must_use]
pub struct AuthorizationServerBuilder {
    issuer: String,
    clients: Option<Arc<dyn ClientStore>>,
    interactions: Option<Arc<dyn InteractionStore>>,
    tokens: Option<Arc<dyn TokenStore>>,
    nonce_key: Option<NonceKey>,
    clock: Option<Arc<dyn Clock>>,
    entropy: Option<Arc<dyn Entropy>>,
    signing_keys: Option<SigningKeys>,
    id_token_keys: Vec<SigningKeys>,
    audience: Vec<String>,
    scopes: Scopes,
    policy: TokenPolicy,
    access_token_lifetime: Option<AccessTokenLifetime>,
    retry_pepper: Option<RetryPepper>,
    options: Options,
    mtls_base: Option<String>,
}

impl AuthorizationServerBuilder {
    pub(super) fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            clients: None,
            interactions: None,
            tokens: None,
            nonce_key: None,
            clock: None,
            entropy: None,
            signing_keys: None,
            id_token_keys: Vec::new(),
            audience: Vec::new(),
            scopes: Scopes::default(),
            policy: TokenPolicy::default(),
            access_token_lifetime: None,
            retry_pepper: None,
            options: Options::default(),
            mtls_base: None,
        }
    }

    /// Sets the paths of the endpoints. The metadata list them, DPoP proofs must name their URLs,
    /// and a client assertion may name the token endpoint as its audience.
    pub fn with_paths(mut self, paths: EndpointPaths) -> Self {
        self.options.paths = paths;
        self
    }

    /// Sets the store of registered clients.
    pub fn with_clients(mut self, clients: impl ClientStore + 'static) -> Self {
        self.clients = Some(Arc::new(clients));
        self
    }

    /// Sets the store of pending interactions and pushed authorization requests.
    pub fn with_interactions(mut self, interactions: impl InteractionStore + 'static) -> Self {
        self.interactions = Some(Arc::new(interactions));
        self
    }

    /// Sets the store of codes and tokens.
    pub fn with_tokens(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Sets the store of consents. The server then stores each consent, and
    /// [`needs_consent`](AuthorizationServer::needs_consent) tells the host whether to ask.
    pub fn with_consents(mut self, consents: impl ConsentStore + 'static) -> Self {
        self.options.consents = Some(Arc::new(consents));
        self
    }

    /// Sets the lookup of signed-in users, which answers requests with `prompt=none`: the silent
    /// renewal of browser applications. Without it, such requests get `login_required`.
    ///
    /// The client gets a code if exactly one signed-in user matches (with `id_token_hint`, only the
    /// user of the hint counts), this user authenticated recently enough for `max_age`, and this
    /// user [has consented](Self::with_consents) to all of the request. Otherwise it gets an error,
    /// for example `login_required`, `account_selection_required`, `consent_required` or
    /// `interaction_required`.
    pub fn with_session_lookup(mut self, lookup: impl SessionLookup + 'static) -> Self {
        self.options.session_lookup = Some(Arc::new(lookup));
        self
    }

    /// Sets the store for replay detection, which enables client authentication by
    /// `private_key_jwt` and DPoP-bound tokens ([`dpop`](crate::dpop)). Without this store, the
    /// server refuses client assertions and ignores DPoP proofs.
    pub fn with_replays(mut self, replays: impl ReplayStore + 'static) -> Self {
        self.options.replays = Some(Arc::new(replays));
        self
    }

    /// Sets the HTTP transport that fetches the keys of clients from their `jwks_uri`
    /// ([`RegisteredClient::keyed_at`](crate::store::RegisteredClient::keyed_at)). Keys are cached
    /// as those of an issuer ([`RemoteKeySet`](crate::jose::RemoteKeySet)). Without a transport,
    /// such clients are refused; if the keys cannot be fetched, the response is 503.
    ///
    /// # Security
    ///
    /// If clients register their own URLs, the transport must refuse private addresses and must not
    /// follow redirects.
    pub fn with_client_key_transport(mut self, transport: impl Transport + 'static) -> Self {
        self.options.client_key_sets = Some(ClientKeySets::new(Arc::new(transport)));
        self
    }

    /// Enables back-channel logout ([OpenID Connect Back-Channel
    /// Logout](https://openid.net/specs/openid-connect-backchannel-1_0.html)): when the host ends a
    /// session or the grants of a client, the server sends a logout token to each affected client
    /// that has a
    /// [`backchannel_logout_uri`](crate::store::RegisteredClient::with_backchannel_logout_uri). A
    /// session timeout sends nothing. `store` must be the store that
    /// [`with_tokens`](Self::with_tokens) gets and that holds the sessions: the call that ends a
    /// session also queues its logouts. The host calls
    /// [`send_logouts`](AuthorizationServer::send_logouts) by a timer.
    ///
    /// # Security
    ///
    /// If clients register their own URLs, the transport must refuse private addresses and must not
    /// follow redirects.
    pub fn with_backchannel_logout(
        mut self,
        store: impl LogoutStore + 'static,
        transport: impl Transport + 'static,
    ) -> Self {
        self.options.backchannel_logout = Some(BackchannelLogout {
            store: Arc::new(store),
            transport: Arc::new(transport),
        });
        self
    }

    /// Requires a nonce of this server in each DPoP proof ([RFC 9449
    /// §8](https://www.rfc-editor.org/rfc/rfc9449#section-8)), so that a client cannot sign proofs
    /// in advance. A client without a valid nonce gets a nonce with the error `use_dpop_nonce`, and
    /// must retry. Default: no nonce is required.
    pub fn with_dpop_nonces(mut self, key: NonceKey) -> Self {
        self.nonce_key = Some(key);
        self
    }

    /// Sets the store and the policy of the rate limit for client authentication. By default there
    /// is no limit. While a client is above the limit, the token, introspection, revocation and PAR
    /// endpoints refuse its secrets and assertions, right or wrong, with 429 and `Retry-After`.
    ///
    /// Failures are counted per client and [`Source`](crate::attempts::Source), or per client if
    /// the request has no `Source` in its extensions. If the store is unavailable, the response is
    /// 503.
    ///
    /// # Security
    ///
    /// Without a `Source`, an attacker who knows the `client_id` of a confidential client can lock
    /// out the client with wrong secrets; see [`attempts`](crate::attempts).
    pub fn with_attempts(mut self, store: impl AttemptStore + 'static, policy: AttemptPolicy) -> Self {
        self.options.guesses = Some(Guesses {
            store: Arc::new(store),
            policy,
        });
        self
    }

    /// Sets the clock.
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets the source of randomness.
    pub fn with_entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.entropy = Some(Arc::new(entropy));
        self
    }

    /// Sets the signing keys of access tokens and ID tokens. Their public keys are the JWKS.
    pub fn with_signing_keys(mut self, keys: SigningKeys) -> Self {
        self.signing_keys = Some(keys);
        self
    }

    /// Adds signing keys of ID tokens, of another algorithm than those of access tokens. The
    /// registration of a client [selects its
    /// algorithm](crate::store::RegisteredClient::with_id_token_algorithm). With an RS256 key, ID
    /// tokens are RS256 by default, because many clients accept no other algorithm.
    ///
    /// ```
    /// # use oauth_core::jose::{SigningKey, SigningKeys};
    /// # use oauth_core::ports::OsEntropy;
    /// # use oauth_core::server::AuthorizationServer;
    /// let server = AuthorizationServer::builder("https://auth.example")
    ///     .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?))
    ///     .with_id_token_keys(SigningKeys::new(SigningKey::generate_rsa()?));
    /// # drop(server);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_id_token_keys(mut self, keys: SigningKeys) -> Self {
        self.id_token_keys.push(keys);
        self
    }

    /// Adds a resource server: a value of `aud` in access tokens, of 1 to 2048 printable ASCII
    /// characters. Tokens are for all resource servers, unless the client requests fewer by
    /// `resource`.
    pub fn with_audience(mut self, audience: &str) -> Self {
        self.audience.push(audience.to_owned());
        self
    }

    /// Sets `scopes_supported` in the metadata. The setting has no other effect: the scopes that a
    /// client may request are in its registration.
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Sets the format of access tokens. Default: JWT. After a change, tokens in the previous
    /// format stay valid.
    pub const fn with_access_token_format(mut self, format: AccessTokenFormat) -> Self {
        self.policy.access_token_format = format;
        self
    }

    /// Sets the lifetime of access tokens. JWT: at most 15 minutes, default 10. Opaque: at most 60
    /// minutes, default 15.
    pub const fn with_access_token_lifetime(mut self, lifetime: AccessTokenLifetime) -> Self {
        self.access_token_lifetime = Some(lifetime);
        self
    }

    /// Accepts a retried refresh within `window`, for clients that lost the response: the retry
    /// gets the refresh token and access token of the first response. [`RetryWindow`] defines a
    /// retry. The server derives opaque tokens again with `pepper`, because the store keeps only
    /// hashes, and signs a JWT again over the same claims.
    ///
    /// - If keys, settings and the claims of the [claims source](Self::with_claims_source) did not
    ///   change, the whole response, with the ID token, equals the first response byte for byte.
    /// - The server refuses the retry, and revokes nothing, if the pepper or the token format has
    ///   changed or, for a JWT, the issuer, the signing key or the claims of the claims source.
    /// - With an opaque access token, the ID token is signed with the current key over the current
    ///   claims and may differ.
    ///
    /// A window requires that all active signing keys are of EdDSA or of RS256, RS384 or RS512, for
    /// every token format, because only these algorithms sign deterministically. Without a window,
    /// the second use of a refresh token revokes its family, as in [RFC 9700
    /// §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2).
    ///
    /// # Security
    ///
    /// Within the window, a thief who presents a refresh token that its owner has just used gets
    /// the same tokens as the owner. When both have used the new refresh token, the family is
    /// revoked. Exception: if the second use is within the window of the first use and before any
    /// further refresh, the server cannot detect the theft. Set the window no longer than the
    /// clients need for their retries.
    pub fn with_retry_window(mut self, window: RetryWindow, pepper: RetryPepper) -> Self {
        self.policy.retry_window = window;
        self.retry_pepper = Some(pepper);
        self
    }

    /// Sets the lifetime of refresh tokens. Default: 14 days idle, 30 days in total.
    pub fn with_refresh_token_lifetime(mut self, lifetime: RefreshTokenLifetime) -> Self {
        self.policy.refresh_token = lifetime;
        self
    }

    /// Requires pushed authorization requests, [RFC 9126
    /// §5](https://www.rfc-editor.org/rfc/rfc9126#section-5). The server then refuses authorization
    /// requests that were not pushed.
    pub fn with_pushed_requests_required(mut self) -> Self {
        self.options.pushed_requests_required = true;
        self
    }

    /// Requires a `nonce` in each authorization request with the scope `openid`. By default a nonce
    /// is optional ([OpenID Connect Core
    /// §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)), because PKCE,
    /// which is always required, also prevents the injection of a code.
    pub fn with_nonce_required(mut self) -> Self {
        self.options.nonce_required = true;
        self
    }

    /// Refuses client assertions whose audience is the token endpoint, or that expire more than
    /// five minutes ahead. By default the audience is the issuer or the token endpoint, and an
    /// assertion is valid for up to one hour, because many clients send such assertions.
    ///
    /// # Security
    ///
    /// Enable this setting if clients use one key at several authorization servers. A malicious
    /// server can publish the token endpoint of this server as its own. A client then sends it an
    /// assertion that is also valid here.
    pub fn with_strict_client_assertions(mut self) -> Self {
        self.options.strict_client_assertions = true;
        self
    }

    /// Restricts the claim `email` to tokens with the scope `email`, and the claim `name` to tokens
    /// with the scope `profile` ([OpenID Connect Core
    /// §5.4](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims)), in ID tokens and
    /// UserInfo. The same rule applies to `username` in introspection, which is the email address
    /// or else the name. Default: all clients get both claims, if the host sets them.
    pub fn with_claims_by_scope(mut self) -> Self {
        self.options.claims_by_scope = true;
        self
    }

    /// Sets the lookup of locked accounts. The tokens of a locked user are inactive at
    /// introspection, refresh and UserInfo, and the user gets no code. For the issuer's own API see
    /// [`ResourceServer::with_subject_status`](crate::resource::ResourceServer::with_subject_status).
    pub fn with_subject_status(mut self, status: impl SubjectStatus + 'static) -> Self {
        self.options.subject_status = Some(Arc::new(status));
        self
    }

    /// Requires the shape `<verb>:<noun>`, for example `read:charges`, for all scopes except those
    /// of OpenID Connect. The server refuses other scopes with `invalid_scope` in authorization and
    /// token requests, and in [`with_scopes`](Self::with_scopes) as a configuration error.
    /// Registrations are not checked. Verb and noun begin with a lower-case letter; lower-case
    /// letters, digits, `-`, `_` and `.` follow. By default scopes have any shape.
    pub fn with_verb_noun_scopes(mut self) -> Self {
        self.options.scopes_are_verb_noun = true;
        self
    }

    /// Sets the source of further claims. The server asks it for each ID token and JWT access token
    /// that it issues, and for each UserInfo and introspection response of an active access token.
    ///
    /// A retry of a refresh within the [retry window](Self::with_retry_window) is refused if the
    /// claims of its JWT access token changed meanwhile.
    pub fn with_claims_source(mut self, source: impl ClaimsSource + 'static) -> Self {
        self.options.claims_source = Some(Arc::new(source));
        self
    }

    /// Omits `error_description` in the errors that clients get through the browser. By default it
    /// is the [description](crate::error::Reason::description) of the reason, for the developer of
    /// the client.
    pub fn without_error_descriptions(mut self) -> Self {
        self.options.descriptions_hidden = true;
        self
    }

    /// Sets the renderer of error pages, which returns an HTML document. By default the server has
    /// a plain page of its own.
    ///
    /// # Security
    ///
    /// The renderer must escape the values of the fault: an attacker can choose them.
    pub fn with_error_page(
        mut self,
        render: impl Fn(&AuthorizationFault) -> String + Send + Sync + 'static,
    ) -> Self {
        self.options.error_page = Some(Arc::new(render));
        self
    }

    /// Enables certificate-bound tokens ([RFC 8705
    /// §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)) for clients with
    /// [`SenderConstraint::MutualTls`](crate::store::SenderConstraint::MutualTls). The host puts
    /// the [`ClientCertificate`](crate::mtls::ClientCertificate) of the connection into the
    /// extensions of the request.
    pub fn with_certificate_bound_tokens(mut self) -> Self {
        self.options.certificates.bound_tokens = true;
        self
    }

    /// Enables `tls_client_auth` ([RFC 8705
    /// §2.1](https://www.rfc-editor.org/rfc/rfc8705#section-2.1)): a client authenticates by its
    /// registered name in a CA-issued certificate [with verified
    /// names](crate::mtls::ClientCertificate::with_verified_names).
    ///
    /// # Security
    ///
    /// Any certificate with the registered name, from any CA that the host trusts for client
    /// certificates, authenticates as the client.
    pub fn with_tls_client_auth(mut self) -> Self {
        self.options.certificates.names = true;
        self
    }

    /// Enables `self_signed_tls_client_auth` ([RFC 8705
    /// §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2)): a client authenticates by the
    /// key of its registered certificate.
    pub fn with_self_signed_tls_client_auth(mut self) -> Self {
        self.options.certificates.self_signed = true;
        self
    }

    /// Publishes `mtls_endpoint_aliases` ([RFC 8705
    /// §5](https://www.rfc-editor.org/rfc/rfc8705#section-5)) below the base URL `base`. There the
    /// host requests client certificates in the TLS handshake; browsers use the URL of the issuer,
    /// so that they are not asked for a certificate. The host must mount the endpoints under both
    /// URLs.
    pub fn with_mtls_endpoint_aliases(mut self, base: &str) -> Self {
        self.mtls_base = Some(base.to_owned());
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with all mistakes in the settings.
    pub fn build(self) -> Result<AuthorizationServer, ConfigError> {
        let mut mistakes = Mistakes::default();
        let issuer = mistakes.parsed::<Issuer>(&self.issuer, ConfigMistake::InvalidIssuer);
        let clients = mistakes.required(self.clients, "client store");
        let interactions = mistakes.required(self.interactions, "interaction store");
        let tokens = mistakes.required(self.tokens, "token store");
        let clock = mistakes.required(self.clock, "clock");
        let entropy = mistakes.required(self.entropy, "entropy");
        let keys = mistakes.signing_keys(self.signing_keys, self.id_token_keys);
        let audience = mistakes.audience(&self.audience);
        mistakes.options(&self.scopes, &self.options);
        let mtls_base = mistakes.mtls_base(self.mtls_base.as_deref());
        let policy = mistakes.policy(self.policy, self.access_token_lifetime, keys.as_ref());
        let parts = (issuer, clients, interactions, tokens, clock, entropy, keys);
        let (
            Some(issuer),
            Some(clients),
            Some(interactions),
            Some(tokens),
            Some(clock),
            Some(entropy),
            Some(keys),
        ) = parts
        else {
            return Err(mistakes.into());
        };
        if !mistakes.are_none() {
            return Err(mistakes.into());
        }
        let offer = metadata::Offer {
            paths: &self.options.paths,
            scopes: &self.scopes,
            algorithms: keys.algorithms(),
            pushed_requests_required: self.options.pushed_requests_required,
            replays: self.options.replays.is_some(),
            certificates: self.options.certificates,
            backchannel_logout: self.options.backchannel_logout.is_some(),
            mtls_base: mtls_base.as_ref(),
        };
        let metadata = metadata::describe(&issuer, &offer);
        let possession = Possession::offered(&issuer, &offer, self.nonce_key.as_ref());
        Ok(AuthorizationServer {
            inner: Arc::new(Inner {
                issuer,
                clients,
                interactions,
                tokens,
                possession,
                clock,
                entropy,
                signing_keys: keys,
                audience,
                policy,
                // without a retry window, tokens are random and not derived
                retry_pepper: self.retry_pepper.filter(|_| !policy.retry_window.is_none()),
                options: self.options,
                metadata,
            }),
        })
    }
}

impl fmt::Debug for AuthorizationServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServerBuilder")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}
