//! Client assertions: `private_key_jwt`, [RFC 7523
//! §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2).

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::algorithm::Algorithm;
use super::claims::{Audiences, NumericDate, Times};
use super::compact::{Compact, SelectedKey};
use super::crypto::SigningError;
use super::jwt::{self, JwtError, TokenType};
use super::key_set::KeySet;
use super::signing_key::SigningKey;
use super::stand_in;
use crate::ports::Entropy;
use crate::random::random_text;
use crate::secret::TokenHash;
use crate::time::{CLIENT_LEEWAY, PURGE_ALLOWANCE, later};
use crate::vocabulary::{ClientId, Issuer};

/// Maximum time until `exp` for stock clients: one hour. Replay detection stores each assertion
/// until it expires.
const MAX_LIFE: Duration = Duration::from_secs(60 * 60);
/// Maximum time until `exp` under a strict policy: five minutes.
const STRICT_LIFE: Duration = Duration::from_secs(5 * 60);
/// Lifetime of assertions that this crate signs: one minute.
const OWN_LIFE: Duration = Duration::from_secs(60);

/// Claims of a client assertion: a JWT that authenticates a client at one authorization server.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use oauth_core::jose::{ClientAssertion, ClientAssertionPolicy, KeySet, SigningKey};
/// use oauth_core::ports::OsEntropy;
///
/// let issuer: oauth_core::vocabulary::Issuer = "https://as.example".parse()?;
/// let key = SigningKey::generate_ed25519(&OsEntropy)?;
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let token = ClientAssertion::new("demo-web".parse()?, &OsEntropy, now).sign(&key, &issuer)?;
///
/// let client_id = ClientAssertion::claimed_client(token.expose())?;
/// let keys = KeySet::new([key.public_key().clone()])?; // the client's registered keys
/// let policy = ClientAssertionPolicy::new(issuer, client_id);
/// let assertion = ClientAssertion::verify(token.expose(), &keys, &policy, now)?;
/// assert_eq!(assertion.client_id.as_str(), "demo-web");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientAssertion {
    /// `iss` and `sub`: identifier of the client.
    pub client_id: ClientId,
    /// `jti`: identifier of the assertion, unique per client.
    pub jti: String,
    /// `iat`, truncated to whole seconds.
    pub issued_at: Option<SystemTime>,
    /// `exp`, truncated to whole seconds.
    pub expires_at: SystemTime,
}

/// Policy for accepting assertions of one client at one authorization server.
#[derive(Clone, Debug)]
pub struct ClientAssertionPolicy {
    issuer: Issuer,
    client_id: ClientId,
    token_endpoint: Option<String>,
    longest: Duration,
}

impl ClientAssertionPolicy {
    /// Creates a strict policy: the only accepted audience is the authorization server `issuer`,
    /// and `exp` is at most five minutes ahead. Clocks may differ by ten seconds.
    #[must_use]
    pub fn new(issuer: Issuer, client_id: ClientId) -> Self {
        Self {
            issuer,
            client_id,
            token_endpoint: None,
            longest: STRICT_LIFE,
        }
    }

    /// Also accepts the URL of the token endpoint as the audience, and `exp` up to one hour ahead,
    /// as stock clients send them ([RFC 7523
    /// §3](https://www.rfc-editor.org/rfc/rfc7523#section-3)).
    ///
    /// # Security
    ///
    /// A client that is also registered at a malicious authorization server can be led to name this
    /// token endpoint in an assertion that it sends there. Clients that use one key at several
    /// servers need the strict policy.
    #[must_use]
    pub fn with_token_endpoint(mut self, url: &str) -> Self {
        self.token_endpoint = Some(url.to_owned());
        self.longest = MAX_LIFE;
        self
    }

    /// Returns `true` for exactly one audience, which is this server. With several audiences,
    /// another server could present the assertion here.
    fn is_audience(&self, audiences: &Audiences<'_>) -> bool {
        let [audience] = audiences.0.as_slice() else {
            return false;
        };
        *audience == self.issuer.as_str() || Some(&**audience) == self.token_endpoint.as_deref()
    }

    fn check(&self, claims: &Wire<'_>, now: SystemTime) -> Result<(), JwtError> {
        if claims.iss != self.client_id.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        if claims.sub != self.client_id.as_str() {
            return Err(JwtError::WrongSubject);
        }
        if !self.is_audience(&claims.aud) {
            return Err(JwtError::WrongAudience);
        }
        if claims.jti.is_empty() {
            return Err(JwtError::Malformed);
        }
        if claims.exp.time() > later(later(now, self.longest), CLIENT_LEEWAY) {
            return Err(JwtError::LivesTooLong);
        }
        Times {
            expires_at: claims.exp,
            issued_at: claims.iat.unwrap_or(SystemTime::UNIX_EPOCH.into()),
            not_before: claims.nbf,
        }
        .check(now, CLIENT_LEEWAY)
    }
}

/// Claims on the wire, [RFC 7523 §3](https://www.rfc-editor.org/rfc/rfc7523#section-3).
#[derive(Deserialize, Serialize)]
struct Wire<'a> {
    #[serde(borrow)]
    iss: Cow<'a, str>,
    #[serde(borrow)]
    sub: Cow<'a, str>,
    #[serde(borrow)]
    aud: Audiences<'a>,
    #[serde(borrow)]
    jti: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iat: Option<NumericDate>,
    exp: NumericDate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<NumericDate>,
}

/// A signed [`ClientAssertion`], for one request.
///
/// Its `Debug` output is redacted, and its memory is overwritten with zeros on drop.
///
/// # Security
///
/// Any party that gets an unused assertion can authenticate as the client until the assertion
/// expires. Send it only to the server in its `aud`, and sign a new assertion for each request.
#[derive(Clone)]
pub struct SignedClientAssertion(Zeroizing<String>);

impl SignedClientAssertion {
    /// Returns the JWT, for the parameter `client_assertion`.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SignedClientAssertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignedClientAssertion([redacted])")
    }
}

impl ClientAssertion {
    /// Value of the parameter `client_assertion_type`.
    pub const TYPE: &'static str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

    /// Creates an assertion with a random `jti` that is valid for one minute.
    #[must_use]
    pub fn new(client_id: ClientId, entropy: &dyn Entropy, now: SystemTime) -> Self {
        Self {
            client_id,
            jti: random_text::<16>("", entropy).to_string(),
            issued_at: Some(now),
            expires_at: later(now, OWN_LIFE),
        }
    }

    /// Returns the key for a [`ReplayStore`](crate::store::ReplayStore): a hash of purpose, client
    /// and `jti`, so that the keys of different clients never collide.
    #[must_use]
    pub fn replay_key(&self) -> TokenHash {
        // a client id contains no NUL, so different pairs give different texts
        TokenHash::new(&format!("client_assertion\0{}\0{}", self.client_id, self.jti))
    }

    /// Returns the instant until which the [`replay_key`](Self::replay_key) must be stored. It is
    /// one minute after this server starts to refuse the assertion as expired, because other
    /// servers that share the store may have a clock that is up to one minute behind.
    #[must_use]
    pub fn replayable_until(&self) -> SystemTime {
        later(later(self.expires_at, CLIENT_LEEWAY), PURGE_ALLOWANCE)
    }

    /// Signs the assertion for the authorization server `issuer`.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the signer failed or a time is before 1970.
    pub fn sign(&self, key: &SigningKey, issuer: &Issuer) -> Result<SignedClientAssertion, SigningError> {
        let client_id = self.client_id.as_str();
        let wire = Wire {
            iss: client_id.into(),
            sub: client_id.into(),
            aud: Audiences(vec![issuer.as_str().into()]),
            jti: self.jti.as_str().into(),
            iat: self.issued_at.map(Into::into),
            exp: self.expires_at.into(),
            nbf: None,
        };
        let token = jwt::sign(key, TokenType::ClientAssertion, &wire)?;
        Ok(SignedClientAssertion(Zeroizing::new(token)))
    }

    /// Returns the client in `sub`, so that the caller can look up the client's keys. Nothing is
    /// verified.
    ///
    /// # Errors
    ///
    /// [`JwtError::Malformed`] when the token is malformed or its `sub` is not a client identifier.
    pub fn claimed_client(token: &str) -> Result<ClientId, JwtError> {
        #[derive(Deserialize)]
        struct Claimed<'a> {
            #[serde(borrow)]
            sub: Cow<'a, str>,
        }
        let token = Compact::parse(token)?;
        let Claimed { sub } = token.claims()?;
        sub.parse().map_err(|_| JwtError::Malformed)
    }

    /// Returns the algorithm of an assertion, which is not verified.
    pub(crate) fn algorithm(token: &str) -> Result<Algorithm, JwtError> {
        let (algorithm, _) = Compact::parse(token)?.signed_by(TokenType::ClientAssertion)?;
        Ok(algorithm)
    }

    /// Verifies an assertion with the registered `keys` of the client.
    ///
    /// # Errors
    ///
    /// [`JwtError`] when the assertion is invalid.
    ///
    /// # Security
    ///
    /// The caller must store [`replay_key`](Self::replay_key) in its
    /// [`ReplayStore`](crate::store::ReplayStore) until
    /// [`replayable_until`](Self::replayable_until), and refuse the assertion as a replay if it was
    /// stored before.
    pub fn verify(
        token: &str,
        keys: &KeySet,
        policy: &ClientAssertionPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        Self::verify_alike(token, Some(keys), policy, now)
    }

    /// Like [`verify`](Self::verify), but takes the same time if the client is unknown or has no
    /// matching key: then it verifies the signature with a dummy key. So response times do not
    /// reveal which clients exist. `keys` is `None` for an unknown client.
    pub(crate) fn verify_alike(
        token: &str,
        keys: Option<&KeySet>,
        policy: &ClientAssertionPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        let token = Compact::parse(token)?;
        let (algorithm, key_id) = token.signed_by(TokenType::ClientAssertion)?;
        let key = keys
            .ok_or(JwtError::UnknownKey)
            .and_then(|keys| keys.select(key_id.as_deref(), algorithm));
        let checked = token.claims().and_then(|wire: Wire<'_>| {
            policy.check(&wire, now)?;
            Ok(wire)
        });
        // if the key is missing too, that is the more useful reason for the host
        let wire = checked.map_err(|error| key.err().unwrap_or(error))?;
        let used = key.unwrap_or_else(|_| stand_in::key(algorithm));
        let verified = black_box(token.verify(SelectedKey { key: used, algorithm }));
        key.and(verified)?;
        Ok(Self {
            client_id: policy.client_id.clone(),
            jti: wire.jti.clone().into_owned(),
            issued_at: wire.iat.map(NumericDate::time),
            expires_at: wire.exp.time(),
        })
    }
}
