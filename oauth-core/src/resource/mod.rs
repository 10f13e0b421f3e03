//! Resource server: verifies the access tokens of requests to an API. Call it in a middleware or
//! guard.
//!
//! [`ResourceServer::authenticate`] takes the head of a request and returns an
//! [`AuthenticatedToken`] or a [`Challenge`].
//!
//! - JWT access tokens ([RFC 9068](https://www.rfc-editor.org/rfc/rfc9068)) are verified locally,
//!   with pinned keys or with a JWKS client ([`RemoteKeySet`](crate::jose::RemoteKeySet)).
//!   [`ResourceServer::discover`] finds the JWKS of an issuer by discovery.
//! - Opaque tokens are validated by [introspection](Introspection) at the issuer.
//! - [`ResourceServer::with_dpop`] accepts DPoP-bound tokens, which are useless to a thief who
//!   lacks the client's key. [`ResourceServer::with_required_possession`] refuses bearer tokens.
//! - [`AuthenticatedToken::require`] checks a scope. [`AuthenticatedToken::require_sign_in_within`]
//!   requires a recent authentication of the user.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::{Duration, SystemTime};
//! use oauth_core::jose::{AccessTokenClaims, KeySet, SigningKey};
//! use oauth_core::ports::OsEntropy;
//! use oauth_core::resource::ResourceServer;
//! use oauth_core::vocabulary::AccessTokenTerms;
//!
//! let key = SigningKey::generate_es256(&OsEntropy)?;
//! let keys = KeySet::new([key.public_key().clone()])?;
//! let (issuer, audience) = ("https://as.example".parse()?, "https://api.example".parse()?);
//! let api = ResourceServer::new(issuer, audience, keys);
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let token = AccessTokenClaims {
//!     terms: AccessTokenTerms {
//!         subject: "ada".parse()?,
//!         audience: vec!["https://api.example".parse()?],
//!         client_id: "demo-web".parse()?,
//!         scopes: "read:charges".parse()?,
//!         issued_at: now,
//!         expires_at: now + Duration::from_secs(600),
//!         confirmation: None,
//!     },
//!     issuer: "https://as.example".parse()?,
//!     jti: "1".to_owned(),
//!     auth_time: None,
//! }
//! .sign(&key)?;
//!
//! let bearer = format!("Bearer {}", token.expose());
//! let request = http::Request::get("/v1/charges").header("authorization", bearer).body(())?;
//! let (parts, ()) = request.into_parts();
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let principal = api.authenticate(&parts, now).await?;
//! assert_eq!(principal.subject().as_str(), "ada");
//! assert!(principal.require(&"read:charges".parse()?).is_ok());
//!
//! let refused = principal.require(&"write:refunds".parse()?).unwrap_err();
//! assert_eq!(refused.status(), 403);
//! assert_eq!(
//!     refused.www_authenticate(),
//!     [r#"Bearer realm="https://api.example", error="insufficient_scope", scope="write:refunds""#]
//! );
//! # Ok(()) })
//! # }
//! ```

mod authenticated_token;
mod cache;
pub(crate) mod challenge;
pub(crate) mod credentials;
mod introspection;
mod metadata;
mod required_possession;
mod verified_tokens;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderValue;
use http::request::Parts;

pub use authenticated_token::AuthenticatedToken;
pub use challenge::{Challenge, ChallengeReason};
pub use introspection::Introspection;
pub use required_possession::RequiredPossession;

use self::authenticated_token::Granted;
use self::challenge::Realm;
use self::credentials::Scheme;
use self::introspection::AskError;
use self::verified_tokens::VerifiedTokens;
use crate::client::{Discovery, DiscoveryError};
use crate::dpop::{Htu, NonceKey, Nonces, ProofError, ProofPolicy, Target};
use crate::jose::{AccessTokenPolicy, IssuerKeys, IssuerProfile, VerifyError};
use crate::mtls::ClientCertificate;
use crate::ports::Transport;
use crate::secret::TokenHash;
use crate::store::{ReplayStore, SpendOutcome, SubjectStatus, TokenStore};
use crate::vocabulary::{Audience, Confirmation, Issuer, Scopes, Thumbprint};

/// Default capacity of the cache of verified JWTs.
const CAPACITY: usize = 10_000;

/// Verifier of the access tokens of one issuer, for one API.
///
/// Cheap to clone; clones share keys and caches. A verified JWT is cached until it expires or the
/// keys change. For the next request with the same JWT the server computes a hash instead of
/// verifying the signature. It checks expiry and binding in each request.
#[derive(Clone)]
pub struct ResourceServer {
    policy: AccessTokenPolicy,
    realm: Arc<Realm>,
    keys: IssuerKeys,
    verified: Arc<VerifiedTokens>,
    introspection: Option<Introspection>,
    possession: Option<Possession>,
    required: Option<RequiredPossession>,
    proofs: ProofPolicy,
    scopes: Option<Scopes>,
    subject_status: Option<Arc<dyn SubjectStatus>>,
    tokens: Option<Arc<dyn TokenStore>>,
}

/// Configuration of DPoP: public URL of the API, and store for replay detection.
#[derive(Clone)]
struct Possession {
    url: Htu,
    replays: Arc<dyn ReplayStore>,
}

impl ResourceServer {
    /// Creates a verifier of JWTs from `issuer` for `audience`, signed with one of `keys`: a
    /// [`KeySet`](crate::jose::KeySet), or a [`RemoteKeySet`](crate::jose::RemoteKeySet), which
    /// follows key rotations of the issuer.
    #[must_use]
    pub fn new(issuer: Issuer, audience: Audience, keys: impl Into<IssuerKeys>) -> Self {
        let name = audience.as_str().into();
        Self {
            policy: AccessTokenPolicy::new(issuer, audience),
            realm: Arc::new(Realm {
                name,
                metadata_url: None,
                takes_bearer: true,
                takes_proofs: false,
            }),
            keys: keys.into(),
            verified: Arc::new(VerifiedTokens::new(CAPACITY)),
            introspection: None,
            possession: None,
            required: None,
            proofs: ProofPolicy::new(),
            scopes: None,
            subject_status: None,
            tokens: None,
        }
    }

    /// Creates a verifier of JWTs from `issuer` for `audience`, with the keys that the issuer
    /// publishes. It reads the metadata of the issuer once, by
    /// [`Discovery::keys`](crate::client::Discovery::keys); a JWKS client fetches and caches the
    /// keys, and follows their rotations.
    ///
    /// ```no_run
    /// # use oauth_core::ports::Transport;
    /// # use oauth_core::{IssuerProfile, ResourceServer};
    /// # async fn example(
    /// #     transport: impl Transport + 'static,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let (issuer, audience) = ("https://id.example/realms/shop".parse()?, "shop-api".parse()?);
    /// let api = ResourceServer::discover(issuer, audience, transport)
    ///     .await?
    ///     .with_issuer_profile(IssuerProfile::keycloak());
    /// # drop(api);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DiscoveryError`] when the issuer was not reached, or its metadata name no keys.
    pub async fn discover(
        issuer: Issuer,
        audience: Audience,
        transport: impl Transport + 'static,
    ) -> Result<Self, DiscoveryError> {
        let keys = Discovery::new(issuer.clone()).keys(transport).await?;
        Ok(Self::new(issuer, audience, keys))
    }

    /// Sets the tolerated clock difference between issuer and API. Default: five seconds. Longer
    /// values are reduced to one minute.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.policy = self.policy.with_leeway(leeway);
        self.verified = Arc::new(self.verified.emptied());
        self
    }

    /// Sets the shape of the issuer's access tokens. Default: [`IssuerProfile::rfc9068`].
    #[must_use]
    pub fn with_issuer_profile(mut self, profile: IssuerProfile) -> Self {
        self.policy = self.policy.with_issuer_profile(profile);
        self.verified = Arc::new(self.verified.emptied());
        self
    }

    /// Sets the capacity of the cache of verified JWTs. Default: 10,000 tokens, which take up to
    /// about ten megabytes. Less than 2 disables the cache. The cache starts empty and is not
    /// shared with existing clones.
    #[must_use]
    pub fn with_cache(mut self, capacity: usize) -> Self {
        self.verified = Arc::new(VerifiedTokens::new(capacity));
        self
    }

    /// Replaces the keys, for example pinned keys after the issuer rotated its keys. The cache of
    /// verified JWTs starts empty.
    #[must_use]
    pub fn with_keys(mut self, keys: impl Into<IssuerKeys>) -> Self {
        self.keys = keys.into();
        self.verified = Arc::new(self.verified.emptied());
        self
    }

    /// Validates opaque tokens by introspection (RFC 7662). If the pinned key set is empty, all
    /// tokens are introspected.
    #[must_use]
    pub fn with_introspection(mut self, introspection: Introspection) -> Self {
        self.introspection = Some(introspection);
        self
    }

    /// Accepts DPoP-bound tokens with a proof ([RFC 9449
    /// §7](https://www.rfc-editor.org/rfc/rfc9449#section-7)), in addition to bearer tokens. `url`
    /// is the public base URL of the API: each proof must name this URL with the path of the
    /// request. `replays` is the store for replay detection.
    #[must_use]
    pub fn with_dpop(mut self, url: Htu, replays: impl ReplayStore + 'static) -> Self {
        self.possession = Some(Possession {
            url,
            replays: Arc::new(replays),
        });
        self.with_schemes_on_offer()
    }

    /// Requires a nonce of this API in each DPoP proof, so that a client cannot make proofs in
    /// advance. This setting has no effect without [`with_dpop`](Self::with_dpop).
    ///
    /// # Performance
    ///
    /// Clients keep one nonce per origin. If the authorization server and the API share an origin,
    /// a client that alternates between the two needs an additional request at each change.
    #[must_use]
    pub fn with_dpop_nonces(mut self, key: &NonceKey) -> Self {
        let nonces = Nonces::of_resource_server(key, self.policy.audience());
        self.proofs = self.proofs.with_nonces(nonces);
        self
    }

    /// Refuses revoked tokens, for an API of the issuer itself. `tokens` is the token store of the
    /// issuer's authorization server. A token that is not in this store is refused, JWT or opaque.
    /// The store validates no token alone: a JWT also needs a valid signature, and an opaque token
    /// needs [introspection](Self::with_introspection), without which it is refused as malformed.
    ///
    /// The revocation of a token or of its family takes effect at once, in all processes that share
    /// the store. If the store cannot answer, the response is 503.
    ///
    /// # Performance
    ///
    /// Each request reads its token, with the token family, from the store by key.
    #[must_use]
    pub fn with_token_store(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Refuses tokens of locked users, for an API of the issuer itself. The lookup is asked in each
    /// request, also for a JWT.
    #[must_use]
    pub fn with_subject_status(mut self, status: impl SubjectStatus + 'static) -> Self {
        self.subject_status = Some(Arc::new(status));
        self
    }

    /// Authenticates a request by its access token, [RFC 6750
    /// §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1) and [RFC 9449
    /// §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1).
    ///
    /// - A certificate-bound token needs the [`ClientCertificate`] of the connection in the
    ///   extensions of the request ([RFC 8705
    ///   §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)).
    /// - The URI of `request` must have the path that the client requested, including any prefix
    ///   that a router or proxy strips, because a DPoP proof names that path.
    /// - The host must add the [`headers`](AuthenticatedToken::headers) of the returned token to
    ///   its response.
    ///
    /// A bearer JWT that is signed with a pinned or cached key is verified without I/O, except that
    /// [`with_token_store`](Self::with_token_store) and
    /// [`with_subject_status`](Self::with_subject_status) each add one lookup per request.
    ///
    /// # Errors
    ///
    /// A [`Challenge`], which the host returns as its response:
    ///
    /// - 400: several tokens, a token in the query, or a malformed token, for example one of more
    ///   than 16 KiB.
    /// - 401: no token, an invalid or revoked token, a token of a locked user, or a bound token
    ///   without a valid proof or certificate.
    /// - 503: the issuer, its JWKS, the replay store, the token store or the lookup of locked users
    ///   cannot be reached.
    ///
    /// # Security
    ///
    /// A JWT stays valid until it expires, even if it was revoked. Use lifetimes of minutes,
    /// introspection, or the [token store](Self::with_token_store) of the issuer.
    pub async fn authenticate(
        &self,
        request: &Parts,
        now: SystemTime,
    ) -> Result<AuthenticatedToken, Challenge> {
        let presented = credentials::presented(&request.headers, &request.uri);
        let (scheme, token) = presented.map_err(|reason| Challenge::new(&self.realm, None, reason))?;
        if scheme == Scheme::Dpop && !self.realm.takes_proofs {
            return Err(Challenge::new(&self.realm, None, ChallengeReason::NoToken));
        }
        let granted = self.granted(token, scheme, now).await?;
        if self
            .required
            .is_some_and(|required| !required.is_met_by(granted.terms.confirmation))
        {
            return Err(self.refuse(scheme, ChallengeReason::WrongPossession));
        }
        self.check_revocation(token, scheme, now).await?;
        self.check_subject(&granted, scheme).await?;
        let nonce = match (scheme, granted.terms.confirmation) {
            (Scheme::Bearer, None) => None,
            (Scheme::Bearer, Some(bound @ Confirmation::Certificate(_))) => {
                let presented = request.extensions.get::<ClientCertificate>();
                if presented.map(ClientCertificate::confirmation) != Some(bound) {
                    return Err(self.refuse(scheme, ChallengeReason::WrongCertificate));
                }
                None
            }
            (Scheme::Dpop, Some(Confirmation::Jkt(jkt))) => {
                self.verify_possession(request, token, jkt, now).await?
            }
            _ => return Err(self.refuse(scheme, ChallengeReason::WrongScheme)),
        };
        Ok(AuthenticatedToken::new(
            granted,
            Arc::clone(&self.realm),
            scheme,
            nonce,
        ))
    }

    /// Refuses a token that was revoked, or that the token store does not know.
    async fn check_revocation(&self, token: &str, scheme: Scheme, now: SystemTime) -> Result<(), Challenge> {
        let Some(tokens) = &self.tokens else {
            return Ok(());
        };
        match tokens.access_token(&TokenHash::new(token)).await {
            Ok(Some(state)) if state.is_active(now) => Ok(()),
            Ok(_) => Err(self.refuse(scheme, ChallengeReason::InactiveToken)),
            Err(error) => Err(self.unavailable(scheme, Arc::new(error))),
        }
    }

    /// Refuses a token whose user is locked.
    async fn check_subject(&self, granted: &Granted, scheme: Scheme) -> Result<(), Challenge> {
        let Some(status) = &self.subject_status else {
            return Ok(());
        };
        match status.is_locked(&granted.terms.subject).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.refuse(scheme, ChallengeReason::LockedSubject)),
            Err(error) => Err(self.unavailable(scheme, Arc::new(error))),
        }
    }

    /// Validates the token, but not its binding.
    async fn granted(&self, token: &str, scheme: Scheme, now: SystemTime) -> Result<Arc<Granted>, Challenge> {
        let is_opaque = || self.keys.is_empty() || token.split('.').count() != 3;
        let Some(introspection) = self.introspection.as_ref().filter(|_| is_opaque()) else {
            let check = |keys: &_| self.verified.granted(token, keys, &self.policy, now);
            return self.keys.verify(check, now).await.map_err(|error| match error {
                VerifyError::Refused(error) => self.refuse(scheme, ChallengeReason::InvalidToken(error)),
                VerifyError::KeysUnavailable(fault) => self.unavailable(scheme, Arc::new(fault)),
            });
        };
        let asked = introspection.granted(token, &self.policy, now).await;
        asked.map_err(|error| match error {
            AskError::Inactive => self.refuse(scheme, ChallengeReason::InactiveToken),
            AskError::Unavailable(fault) => self.unavailable(scheme, fault),
        })
    }

    /// Verifies the DPoP proof of the key with the thumbprint `jkt`, to which the token is bound.
    /// Returns the nonce to send in the response if the nonce of the proof is no longer the newest.
    async fn verify_possession(
        &self,
        request: &Parts,
        token: &str,
        jkt: Thumbprint,
        now: SystemTime,
    ) -> Result<Option<HeaderValue>, Challenge> {
        let refuse = |error: ProofError| {
            let nonce = self.newest_nonce(now).filter(|_| error.wants_nonce());
            self.refuse(Scheme::Dpop, ChallengeReason::InvalidProof(error))
                .with_nonce(nonce)
        };
        let Some(possession) = &self.possession else {
            return Err(refuse(ProofError::Missing));
        };
        let uri = possession.url.join(request.uri.path());
        let uri = uri.map_err(|_| refuse(ProofError::WrongUri))?;
        let target = Target {
            method: &request.method,
            uri: &uri,
            access_token: Some(token),
        };
        let proven = self
            .proofs
            .verify(&request.headers, &target, now)
            .map_err(refuse)?;
        if proven.thumbprint() != jkt {
            return Err(refuse(ProofError::WrongKey));
        }
        // after all other checks, so that a refused request does not use up its proof
        let spent = possession
            .replays
            .insert_once(proven.replay_key(), proven.replayable_until(), now);
        match spent.await {
            Ok(SpendOutcome::Fresh) => Ok(self.newest_nonce(now).filter(|_| proven.wants_nonce())),
            Ok(SpendOutcome::Seen) => Err(refuse(ProofError::Replayed)),
            Err(error) => Err(self.unavailable(Scheme::Dpop, Arc::new(error))),
        }
    }

    fn newest_nonce(&self, now: SystemTime) -> Option<HeaderValue> {
        HeaderValue::try_from(self.proofs.nonces()?.newest(now)).ok()
    }

    fn refuse(&self, scheme: Scheme, reason: ChallengeReason) -> Challenge {
        Challenge::new(&self.realm, Some(scheme), reason)
    }

    fn unavailable(&self, scheme: Scheme, fault: Arc<dyn Error + Send + Sync>) -> Challenge {
        self.refuse(scheme, ChallengeReason::Unavailable)
            .with_fault(fault)
    }
}

impl fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceServer")
            .field("audience", &self.realm.name)
            .finish_non_exhaustive()
    }
}
