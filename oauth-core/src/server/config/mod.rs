mod mistakes;

use std::fmt;
use std::sync::Arc;

use mistakes::Mistakes;
pub use mistakes::{ConfigError, ConfigMistake};

use super::certificates::CertificateUse;
use super::guesses::Guesses;
use super::possession::Possession;
use super::{AuthorizationServer, Inner, metadata};
use crate::attempts::AttemptPolicy;
use crate::dpop::NonceKey;
use crate::grant::{
    AccessTokenFormat, AccessTokenLifetime, RefreshTokenLifetime, RetryPepper, RetryWindow, TokenPolicy,
};
use crate::jose::SigningKeys;
use crate::ports::{Clock, Entropy};
use crate::store::{AttemptStore, ClientStore, InteractionStore, ReplayStore, TokenStore};
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
    replays: Option<Arc<dyn ReplayStore>>,
    guesses: Option<Guesses>,
    nonce_key: Option<NonceKey>,
    clock: Option<Arc<dyn Clock>>,
    entropy: Option<Arc<dyn Entropy>>,
    signing_keys: Option<SigningKeys>,
    audience: Vec<String>,
    scopes: Scopes,
    policy: TokenPolicy,
    access_token_lifetime: Option<AccessTokenLifetime>,
    retry_pepper: Option<RetryPepper>,
    pushed_requests_required: bool,
    nonce_required: bool,
    strict_client_assertions: bool,
    claims_by_scope: bool,
    certificates: CertificateUse,
    mtls_base: Option<String>,
}

impl AuthorizationServerBuilder {
    pub(super) fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            clients: None,
            interactions: None,
            tokens: None,
            replays: None,
            guesses: None,
            nonce_key: None,
            clock: None,
            entropy: None,
            signing_keys: None,
            audience: Vec::new(),
            scopes: Scopes::default(),
            policy: TokenPolicy::default(),
            access_token_lifetime: None,
            retry_pepper: None,
            pushed_requests_required: false,
            nonce_required: false,
            strict_client_assertions: false,
            claims_by_scope: false,
            certificates: CertificateUse::default(),
            mtls_base: None,
        }
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

    /// Sets the store for replay detection, which enables client authentication by
    /// `private_key_jwt` and DPoP-bound tokens ([`dpop`](crate::dpop)). Without this store, the
    /// server refuses client assertions and ignores DPoP proofs.
    pub fn with_replays(mut self, replays: impl ReplayStore + 'static) -> Self {
        self.replays = Some(Arc::new(replays));
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
        self.guesses = Some(Guesses {
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
    /// - If keys and settings did not change, the whole response, with the ID token, equals the
    ///   first response byte for byte.
    /// - The server refuses the retry, and revokes nothing, if the pepper or the token format has
    ///   changed or, for a JWT, the issuer or the signing key.
    /// - With an opaque access token, the ID token is signed with the current key over the current
    ///   claims and may differ.
    ///
    /// A window requires an EdDSA key as active signing key, for every token format, because only
    /// EdDSA signs deterministically. Without a window, the second use of a refresh token revokes
    /// its family, as in [RFC 9700 §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2).
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
        self.pushed_requests_required = true;
        self
    }

    /// Requires a `nonce` in each authorization request with the scope `openid`. By default a nonce
    /// is optional ([OpenID Connect Core
    /// §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)), because PKCE,
    /// which is always required, also prevents the injection of a code.
    pub fn with_nonce_required(mut self) -> Self {
        self.nonce_required = true;
        self
    }

    /// Refuses client assertions whose audience is the token endpoint, or that expire more than
    /// five minutes ahead. By default the audience is the issuer or the token endpoint, and an
    /// assertion is valid for up to one hour, because many clients send such assertions.
    ///
    /// # Security
    ///
    /// A client that uses one key at several authorization servers needs this setting: a malicious
    /// server can name the token endpoint of this server as its own, and present the assertion that
    /// it gets to this server.
    pub fn with_strict_client_assertions(mut self) -> Self {
        self.strict_client_assertions = true;
        self
    }

    /// Restricts the claim `email` to tokens with the scope `email`, and the claim `name` to tokens
    /// with the scope `profile` ([OpenID Connect Core
    /// §5.4](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims)), in ID tokens,
    /// UserInfo and introspection. Default: all clients get both claims, if the host sets them.
    pub fn with_claims_by_scope(mut self) -> Self {
        self.claims_by_scope = true;
        self
    }

    /// Enables certificate-bound tokens ([RFC 8705
    /// §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)) for clients with
    /// [`SenderConstraint::MutualTls`](crate::store::SenderConstraint::MutualTls). The host puts
    /// the [`ClientCertificate`](crate::mtls::ClientCertificate) of the connection into the
    /// extensions of the request.
    pub fn with_certificate_bound_tokens(mut self) -> Self {
        self.certificates.bound_tokens = true;
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
        self.certificates.names = true;
        self
    }

    /// Enables `self_signed_tls_client_auth` ([RFC 8705
    /// §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2)): a client authenticates by the
    /// key of its registered certificate.
    pub fn with_self_signed_tls_client_auth(mut self) -> Self {
        self.certificates.self_signed = true;
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
        let keys = mistakes.signing_keys(self.signing_keys);
        let audience = mistakes.audience(&self.audience);
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
            scopes: &self.scopes,
            algorithm: keys.active().algorithm(),
            pushed_requests_required: self.pushed_requests_required,
            replays: self.replays.is_some(),
            certificates: self.certificates,
            mtls_base: mtls_base.as_ref(),
        };
        let metadata = metadata::describe(&issuer, &offer);
        let possession = Possession::offered(&issuer, &offer, self.nonce_key.as_ref());
        Ok(AuthorizationServer {
            inner: Arc::new(Inner {
                strict_client_assertions: self.strict_client_assertions,
                issuer,
                clients,
                interactions,
                tokens,
                replays: self.replays,
                guesses: self.guesses,
                possession,
                clock,
                entropy,
                signing_keys: keys,
                audience,
                policy,
                // without a retry window, tokens are random and not derived
                retry_pepper: self.retry_pepper.filter(|_| !policy.retry_window.is_none()),
                pushed_requests_required: self.pushed_requests_required,
                nonce_required: self.nonce_required,
                claims_by_scope: self.claims_by_scope,
                certificates: self.certificates,
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
