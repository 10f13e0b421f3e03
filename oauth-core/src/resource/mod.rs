//! The resource server: who is calling this API, and may they.
//!
//! [`ResourceServer::authenticate`] takes the head of a request and answers with a [`AuthenticatedToken`] or a
//! [`Challenge`]. Access tokens are JWTs ([RFC 9068](https://www.rfc-editor.org/rfc/rfc9068)), verified without a network by keys that
//! are pinned, or that are fetched now and then ([`RemoteKeySet`](crate::jose::RemoteKeySet)); or they are opaque, and the issuer is [asked](Introspection) what they are worth. A token may be bound to a key of its sender
//! ([`ResourceServer::with_dpop`]) and is then of no use to anybody else. [`ResourceServer::with_required_possession`] takes no others. [`AuthenticatedToken::require`] guards an endpoint by scope, and
//! [`AuthenticatedToken::require_sign_in_within`] an action of weight by how long ago the person signed in.
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
//! let api = ResourceServer::new("https://as.example".parse()?, "https://api.example".parse()?, keys);
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
//! let (parts, ()) = http::Request::get("/v1/charges").header("authorization", bearer).body(())?.into_parts();
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
use crate::dpop::{Htu, NonceKey, Nonces, ProofError, ProofPolicy, Target};
use crate::jose::{AccessTokenPolicy, IssuerKeys, VerifyError};
use crate::mtls::ClientCertificate;
use crate::store::{ReplayStore, SpendOutcome};
use crate::vocabulary::{Audience, Confirmation, Issuer, Scopes, Thumbprint};

/// How many verified JWTs are remembered unless said otherwise.
const CAPACITY: usize = 10_000;

/// Guards an API with the access tokens of one issuer.
///
/// Holds parsed keys; cheap to clone, and clones share what they fetch and what they remember: a JWT whose signature was verified costs its hash
/// when it is seen again, until it ends or the keys change. Whether it is over, and what its sender has to prove, is looked at each time.
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
}

/// Where the public knows the API, and which proofs were used there.
#[derive(Clone)]
struct Possession {
    url: Htu,
    replays: Arc<dyn ReplayStore>,
}

impl ResourceServer {
    /// Accepts JWTs of `issuer` that are for `audience` and signed with one of `keys`: a [`KeySet`](crate::jose::KeySet), or a
    /// [`RemoteKeySet`](crate::jose::RemoteKeySet), which follows the issuer when it rotates its keys.
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
        }
    }

    /// Sets how far the clocks of issuer and API may differ: five seconds if not set, a minute at most.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.policy = self.policy.with_leeway(leeway);
        self.verified = Arc::new(self.verified.emptied());
        self
    }

    /// Remembers `capacity` verified JWTs at most: 10,000 if not set, which may take some ten megabytes, and with 0 none. What was
    /// remembered before is not, nor shared with the clones of before.
    #[must_use]
    pub fn with_cache(mut self, capacity: usize) -> Self {
        self.verified = Arc::new(VerifiedTokens::new(capacity));
        self
    }

    /// Replaces the keys; pinned ones after the issuer has rotated its own.
    #[must_use]
    pub fn with_keys(mut self, keys: impl Into<IssuerKeys>) -> Self {
        self.keys = keys.into();
        self.verified = Arc::new(self.verified.emptied());
        self
    }

    /// Asks the issuer what a token is worth that is no JWT; where there are no keys and never will be, each token.
    #[must_use]
    pub fn with_introspection(mut self, introspection: Introspection) -> Self {
        self.introspection = Some(introspection);
        self
    }

    /// Takes tokens that are bound to a key of their sender, with a proof of it
    /// ([RFC 9449 §7](https://www.rfc-editor.org/rfc/rfc9449#section-7)), beside bearer tokens. `url` is where the public knows the API:
    /// the proof of a request has to be for the path of the request below it. `replays` remembers which proofs were used.
    #[must_use]
    pub fn with_dpop(mut self, url: Htu, replays: impl ReplayStore + 'static) -> Self {
        self.possession = Some(Possession {
            url,
            replays: Arc::new(replays),
        });
        self.with_schemes_on_offer()
    }

    /// Asks for a nonce of this API's in each proof, so that none can be made in advance.
    ///
    /// Clients keep one nonce for each origin. Where the authorization server shares that of the API, a client that goes from one to the
    /// other is told the nonce anew, which costs it a request each time.
    #[must_use]
    pub fn with_dpop_nonces(mut self, key: &NonceKey) -> Self {
        let nonces = Nonces::of_resource_server(key, self.policy.audience());
        self.proofs = self.proofs.with_nonces(nonces);
        self
    }

    /// Finds out who sends a request, [RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1) and
    /// [RFC 9449 §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1).
    ///
    /// A token that is bound to a certificate needs it as a [`ClientCertificate`] in the extensions of the request
    /// ([RFC 8705 §3](https://www.rfc-editor.org/rfc/rfc8705#section-3)). Waits for nothing where the token is a JWT of a key that is known, and bound to none. The answer should have
    /// the [`headers`](AuthenticatedToken::headers) of its caller.
    ///
    /// The path of the URI must be the one that the client asked for, whatever a router or a proxy has cut off it: a proof is for that.
    ///
    /// # Errors
    ///
    /// The challenge to answer with: no token, more than one, one in the query, one of more than 16 KiB, one that is not valid here and
    /// now, or one that is bound to a key without a proof of it. Where the issuer, with an answer or with its keys, or the store is out of reach: a 503.
    ///
    /// # Security
    ///
    /// A JWT is valid until it expires, whatever was revoked meanwhile; give it minutes, or ask the issuer by
    /// introspection where that is too long.
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
        let nonce = match (scheme, granted.terms.confirmation) {
            (Scheme::Bearer, None) => None,
            (Scheme::Bearer, Some(bound @ Confirmation::Certificate(_))) => {
                let presented = request.extensions.get::<ClientCertificate>();
                if presented.map(ClientCertificate::confirmation) != Some(bound) {
                    return Err(self.refuse(scheme, ChallengeReason::WrongCertificate));
                }
                None
            }
            (Scheme::Dpop, Some(Confirmation::Jkt(jkt))) => self.possessed(request, token, jkt, now).await?,
            _ => return Err(self.refuse(scheme, ChallengeReason::WrongScheme)),
        };
        Ok(AuthenticatedToken::new(
            granted,
            Arc::clone(&self.realm),
            scheme,
            nonce,
        ))
    }

    /// What the token grants, once it is known to be valid; what its sender has to prove is not looked at.
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

    /// Demands that the sender has the key that the token is bound to. Gives the nonce to hand out, if there is one.
    async fn possessed(
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
        // after every other check, so that what is refused anyway spends nothing
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
