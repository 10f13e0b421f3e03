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

/// Gathers what an [`AuthorizationServer`] needs; made by [`AuthorizationServer::builder`].
///
/// The stores, the clock, the entropy, the signing keys and an audience are required.
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
            claims_by_scope: false,
            certificates: CertificateUse::default(),
            mtls_base: None,
        }
    }

    /// Where clients are registered.
    pub fn with_clients(mut self, clients: impl ClientStore + 'static) -> Self {
        self.clients = Some(Arc::new(clients));
        self
    }

    /// Where sign-ins wait for the user.
    pub fn with_interactions(mut self, interactions: impl InteractionStore + 'static) -> Self {
        self.interactions = Some(Arc::new(interactions));
        self
    }

    /// Where codes and tokens are kept.
    pub fn with_tokens(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Where spent assertions and proofs are remembered. With it clients may authenticate by `private_key_jwt` and have their tokens
    /// bound to a key of theirs ([`dpop`](crate::dpop)); without it they authenticate by secrets alone, and proofs are not looked at.
    pub fn with_replays(mut self, replays: impl ReplayStore + 'static) -> Self {
        self.replays = Some(Arc::new(replays));
        self
    }

    /// Asks for a nonce of this server's in each proof of possession ([RFC 9449 §8](https://www.rfc-editor.org/rfc/rfc9449#section-8)),
    /// so that none can be made in advance: a client that comes without one is handed it with `use_dpop_nonce`, and comes again.
    pub fn with_dpop_nonces(mut self, key: NonceKey) -> Self {
        self.nonce_key = Some(key);
        self
    }

    /// Where clients that are not believed are counted, and how often that may be: from then on a secret or an assertion in the
    /// name of that client, right or wrong, known or not, is answered by 429 and `Retry-After`, at the token, introspection,
    /// revocation and PAR endpoints. Without it the host counts by the events, if at all.
    ///
    /// Counts are per client, and per client and [`Source`](crate::attempts::Source) for requests that have one in their extensions.
    /// A store that is down is a 503: nobody guesses meanwhile, and nobody gets in.
    ///
    /// # Security
    ///
    /// Without sources, whoever knows the id of a confidential client can make it wait by being wrong in its name; see
    /// [`attempts`](crate::attempts).
    pub fn with_attempts(mut self, store: impl AttemptStore + 'static, policy: AttemptPolicy) -> Self {
        self.guesses = Some(Guesses {
            store: Arc::new(store),
            policy,
        });
        self
    }

    /// What time it is.
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Where randomness comes from.
    pub fn with_entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.entropy = Some(Arc::new(entropy));
        self
    }

    /// What signs access tokens and ID tokens, and what is published beside it.
    pub fn with_signing_keys(mut self, keys: SigningKeys) -> Self {
        self.signing_keys = Some(keys);
        self
    }

    /// One more resource server that access tokens are for: a value of their `aud`.
    pub fn with_audience(mut self, audience: &str) -> Self {
        self.audience.push(audience.to_owned());
        self
    }

    /// The scopes to name in the metadata. What a client may have is in its registration.
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// What access tokens are: JWTs unless said otherwise. What was issued before is honoured as what it is.
    pub const fn with_access_token_format(mut self, format: AccessTokenFormat) -> Self {
        self.policy.access_token_format = format;
        self
    }

    /// How long an access token lives. A JWT: up to 15 minutes, 10 unless said otherwise. An opaque one: up to 60, 15 unless said
    /// otherwise.
    pub const fn with_access_token_lifetime(mut self, lifetime: AccessTokenLifetime) -> Self {
        self.access_token_lifetime = Some(lifetime);
        self
    }

    /// Answers a refresh that is repeated within `window` with the same refresh token and access token once more, for clients that lose
    /// answers: until the new refresh token is used, and without ever forking the chain. What is no JWT is derived with `pepper`, so
    /// that only hashes are kept; a JWT is signed anew over the same claims. [`RetryWindow`] says when a refresh is a repetition.
    ///
    /// While keys and settings stay the same, the whole answer is the first one byte for byte, its ID token included. An access
    /// token that comes out differently (another pepper, format of access tokens, issuer or, for a JWT, signing key) makes the server
    /// refuse, and ends nothing. An ID token is not compared: beside an opaque access token it is signed by the key of now, and
    /// tells what is told now.
    ///
    /// Asks for an active signing key of EdDSA whatever access tokens are, because only EdDSA signs the same claims with the same
    /// signature. Without a window a refresh token that comes a second time ends the sign-in, as
    /// [RFC 9700 §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2) has it.
    ///
    /// # Security
    ///
    /// Within the window a stolen token that was just used is honoured once more, for the leaf that its owner has. When both have used that
    /// leaf the chain ends, unless the second comes within the window of the first and before anything was refreshed with its answer: as
    /// long as the two keep that close, the theft goes unseen. Keep the window as short as the retries of the clients.
    pub fn with_retry_window(mut self, window: RetryWindow, pepper: RetryPepper) -> Self {
        self.policy.retry_window = window;
        self.retry_pepper = Some(pepper);
        self
    }

    /// How long a chain of refresh tokens lives: 14 days idle and 30 days at all unless said otherwise.
    pub fn with_refresh_token_lifetime(mut self, lifetime: RefreshTokenLifetime) -> Self {
        self.policy.refresh_token = lifetime;
        self
    }

    /// Takes pushed requests alone, [RFC 9126 §5](https://www.rfc-editor.org/rfc/rfc9126#section-5): what a browser brings
    /// itself is refused.
    pub fn with_pushed_requests_required(mut self) -> Self {
        self.pushed_requests_required = true;
        self
    }

    /// Tells `email` to clients with the scope `email` alone, and `name` to those with `profile`
    /// ([OpenID Connect Core §5.4](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims)): in ID tokens, at the
    /// UserInfo endpoint and by introspection. Unless set, they are told of every person whom the host names.
    pub fn with_claims_by_scope(mut self) -> Self {
        self.claims_by_scope = true;
        self
    }

    /// Binds the tokens of clients that are registered for it to the certificates that they connect with
    /// ([RFC 8705 §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)): the [`ClientCertificate`](crate::mtls::ClientCertificate) in the
    /// extensions of their requests.
    pub fn with_certificate_bound_tokens(mut self) -> Self {
        self.certificates.bound_tokens = true;
        self
    }

    /// Takes `tls_client_auth` ([RFC 8705 §2.1](https://www.rfc-editor.org/rfc/rfc8705#section-2.1)): a client is who an authority says that it
    /// is, in a certificate [with verified names](crate::mtls::ClientCertificate::with_verified_names).
    ///
    /// # Security
    ///
    /// Everybody whom one of the host's authorities certifies under the registered name is the client.
    pub fn with_tls_client_auth(mut self) -> Self {
        self.certificates.names = true;
        self
    }

    /// Takes `self_signed_tls_client_auth` ([RFC 8705 §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2)): a client is whoever has the
    /// key of a certificate that is registered for it.
    pub fn with_self_signed_tls_client_auth(mut self) -> Self {
        self.certificates.self_signed = true;
        self
    }

    /// Names, as `mtls_endpoint_aliases` ([RFC 8705 §5](https://www.rfc-editor.org/rfc/rfc8705#section-5)), the endpoints of clients with
    /// certificates below another URL: where the host asks for certificates, and browsers do not come by. The endpoints are those of
    /// this server under both.
    pub fn with_mtls_endpoint_aliases(mut self, base: &str) -> Self {
        self.mtls_base = Some(base.to_owned());
        self
    }

    /// The server.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with every mistake at once.
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
                // what is not to be repeated is made at random
                retry_pepper: self.retry_pepper.filter(|_| !policy.retry_window.is_none()),
                pushed_requests_required: self.pushed_requests_required,
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
