use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{AuthorizationServer, Inner, metadata};
use crate::grant::{AccessTokenLifetime, RefreshTokenLifetime, TokenPolicy};
use crate::jose::{Jwk, KeySet, SigningKey};
use crate::ports::{Clock, Entropy};
use crate::store::{ClientStore, InteractionStore, TokenStore};
use crate::vocabulary::{Audience, Issuer, Scopes};

/// The longest life of an access token that resource servers check on their own: a revoked one opens their doors for
/// as long.
const MAX_JWT_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Gathers what an [`AuthorizationServer`] needs; made by [`AuthorizationServer::builder`].
///
/// The stores, the clock, the entropy, a signing key and an audience are required.
#[must_use]
pub struct AuthorizationServerBuilder {
    issuer: String,
    clients: Option<Arc<dyn ClientStore>>,
    interactions: Option<Arc<dyn InteractionStore>>,
    tokens: Option<Arc<dyn TokenStore>>,
    clock: Option<Arc<dyn Clock>>,
    entropy: Option<Arc<dyn Entropy>>,
    signing_key: Option<SigningKey>,
    retired_keys: Vec<(Jwk, SystemTime)>,
    audience: Vec<String>,
    scopes: Scopes,
    policy: TokenPolicy,
}

impl AuthorizationServerBuilder {
    pub(super) fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            clients: None,
            interactions: None,
            tokens: None,
            clock: None,
            entropy: None,
            signing_key: None,
            retired_keys: Vec::new(),
            audience: Vec::new(),
            scopes: Scopes::default(),
            policy: TokenPolicy::default(),
        }
    }

    /// Where clients are registered.
    pub fn with_clients(mut self, clients: Arc<dyn ClientStore>) -> Self {
        self.clients = Some(clients);
        self
    }

    /// Where sign-ins wait for the user.
    pub fn with_interactions(mut self, interactions: Arc<dyn InteractionStore>) -> Self {
        self.interactions = Some(interactions);
        self
    }

    /// Where codes and tokens are kept.
    pub fn with_tokens(mut self, tokens: Arc<dyn TokenStore>) -> Self {
        self.tokens = Some(tokens);
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

    /// What signs access tokens and ID tokens from now on.
    pub fn with_signing_key(mut self, key: SigningKey) -> Self {
        self.signing_key = Some(key);
        self
    }

    /// A key that signed before: published until `until`, the instant at which its last token has expired.
    pub fn with_retired_key(mut self, key: Jwk, until: SystemTime) -> Self {
        self.retired_keys.push((key, until));
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

    /// How long an access token lives: up to 15 minutes, since it is a JWT; 10 unless said otherwise.
    pub fn with_access_token_lifetime(mut self, lifetime: AccessTokenLifetime) -> Self {
        self.policy.access_token = lifetime;
        self
    }

    /// How long a chain of refresh tokens lives: 14 days idle and 30 days at all unless said otherwise.
    pub fn with_refresh_token_lifetime(mut self, lifetime: RefreshTokenLifetime) -> Self {
        self.policy.refresh_token = lifetime;
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
        let signing_key = mistakes.required(self.signing_key, "signing key");
        mistakes.required(self.audience.first(), "audience");
        let audience = self
            .audience
            .iter()
            .filter_map(|audience| mistakes.parsed::<Audience>(audience, ConfigMistake::InvalidAudience))
            .collect();
        mistakes.check(
            self.policy.access_token.as_duration() <= MAX_JWT_LIFETIME,
            ConfigMistake::JwtLifetimeTooLong,
        );
        if let Some(key) = &signing_key {
            let keys = self
                .retired_keys
                .iter()
                .map(|(key, _)| key)
                .chain([key.public_key()])
                .cloned();
            mistakes.check(KeySet::new(keys).is_ok(), ConfigMistake::ConflictingKeys);
        }
        let parts = (issuer, clients, interactions, tokens, clock, entropy, signing_key);
        let (
            Some(issuer),
            Some(clients),
            Some(interactions),
            Some(tokens),
            Some(clock),
            Some(entropy),
            Some(signing_key),
        ) = parts
        else {
            return Err(mistakes.into());
        };
        if !mistakes.0.is_empty() {
            return Err(mistakes.into());
        }
        let metadata = metadata::describe(&issuer, &self.scopes, signing_key.algorithm().as_str());
        let (retired_keys, policy) = (self.retired_keys, self.policy);
        Ok(AuthorizationServer {
            inner: Arc::new(Inner {
                issuer,
                clients,
                interactions,
                tokens,
                clock,
                entropy,
                signing_key,
                retired_keys,
                audience,
                policy,
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

/// The settings make no server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError {
    mistakes: Vec<ConfigMistake>,
}

impl ConfigError {
    /// Every mistake that was made.
    #[must_use]
    pub fn mistakes(&self) -> &[ConfigMistake] {
        &self.mistakes
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authorization server is not configured")?;
        self.mistakes.iter().enumerate().try_for_each(|(index, mistake)| {
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}{mistake}")
        })
    }
}

impl std::error::Error for ConfigError {}

/// One mistake in the settings of an [`AuthorizationServer`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigMistake {
    /// A required part was not given.
    #[error("the {0} is missing")]
    Missing(&'static str),
    /// The issuer is no `https` URL without query and fragment, nor an `http` one on loopback.
    #[error("the issuer is not an https url without query and fragment")]
    InvalidIssuer,
    /// An audience is empty or has characters that a token cannot carry.
    #[error("an audience is invalid")]
    InvalidAudience,
    /// An access token that is a JWT may live for 15 minutes.
    #[error("a jwt access token must not live longer than 15 minutes")]
    JwtLifetimeTooLong,
    /// Two keys have one id.
    #[error("the signing keys do not go together")]
    ConflictingKeys,
}

#[derive(Default)]
struct Mistakes(Vec<ConfigMistake>);

impl Mistakes {
    fn check(&mut self, holds: bool, mistake: ConfigMistake) {
        if !holds {
            self.0.push(mistake);
        }
    }

    fn required<T>(&mut self, part: Option<T>, name: &'static str) -> Option<T> {
        self.check(part.is_some(), ConfigMistake::Missing(name));
        part
    }

    fn parsed<T: std::str::FromStr>(&mut self, text: &str, mistake: ConfigMistake) -> Option<T> {
        let parsed = text.parse().ok();
        self.check(parsed.is_some(), mistake);
        parsed
    }
}

impl From<Mistakes> for ConfigError {
    fn from(mistakes: Mistakes) -> Self {
        Self { mistakes: mistakes.0 }
    }
}
