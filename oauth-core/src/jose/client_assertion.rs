//! Client assertions: `private_key_jwt`, [RFC 7523 §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2).

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::claims::{NumericDate, Times};
use super::compact::Compact;
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

/// How far ahead `exp` may be: each assertion is remembered until then.
const MAX_LIFE: Duration = Duration::from_secs(5 * 60);
/// How long an assertion of our own lives: the way to the server and back.
const OWN_LIFE: Duration = Duration::from_secs(60);

/// What a client says, under its own signature, to prove to one authorization server that it is itself.
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
/// let keys = KeySet::new([key.public_key().clone()])?; // those that the client is registered with
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
    /// `iss` and `sub`: the client.
    pub client_id: ClientId,
    /// `jti`: the name of the assertion, never used twice.
    pub jti: String,
    /// `iat`, cut to whole seconds.
    pub issued_at: Option<SystemTime>,
    /// `exp`, cut to whole seconds.
    pub expires_at: SystemTime,
}

/// Which assertions are accepted: those of one client for one authorization server.
#[derive(Clone, Debug)]
pub struct ClientAssertionPolicy {
    issuer: Issuer,
    client_id: ClientId,
}

impl ClientAssertionPolicy {
    /// Assertions of this client for the server that is this issuer. They expire within five minutes, and clocks
    /// may differ by ten seconds.
    #[must_use]
    pub fn new(issuer: Issuer, client_id: ClientId) -> Self {
        Self { issuer, client_id }
    }

    fn check(&self, claims: &Wire<'_>, now: SystemTime) -> Result<(), JwtError> {
        if claims.iss != self.client_id.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        if claims.sub != self.client_id.as_str() {
            return Err(JwtError::WrongSubject);
        }
        if claims.aud != self.issuer.as_str() {
            return Err(JwtError::WrongAudience);
        }
        if claims.jti.is_empty() {
            return Err(JwtError::Malformed);
        }
        if claims.exp.time() > later(later(now, MAX_LIFE), CLIENT_LEEWAY) {
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

/// The claims as they are on the wire, [RFC 7523 §3](https://www.rfc-editor.org/rfc/rfc7523#section-3).
#[derive(Deserialize, Serialize)]
struct Wire<'a> {
    #[serde(borrow)]
    iss: Cow<'a, str>,
    #[serde(borrow)]
    sub: Cow<'a, str>,
    /// One string: an assertion for several servers is one that each of them can use at the others.
    #[serde(borrow)]
    aud: Cow<'a, str>,
    #[serde(borrow)]
    jti: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iat: Option<NumericDate>,
    exp: NumericDate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<NumericDate>,
}

/// A signed [`ClientAssertion`] on its way to the server.
///
/// Redacted in `Debug`, wiped on drop.
///
/// # Security
///
/// Whoever presents it first is this client, once and until it expires: send it to the server it names and to nobody
/// else, and sign another one for the next request.
#[derive(Clone)]
pub struct SignedClientAssertion(Zeroizing<String>);

impl SignedClientAssertion {
    /// The token, for the parameter `client_assertion`.
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
    /// The value of the parameter `client_assertion_type`.
    pub const TYPE: &'static str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

    /// An assertion of the next minute, under a name that nobody can guess.
    #[must_use]
    pub fn new(client_id: ClientId, entropy: &dyn Entropy, now: SystemTime) -> Self {
        Self {
            client_id,
            jti: random_text::<16>("", entropy).to_string(),
            issued_at: Some(now),
            expires_at: later(now, OWN_LIFE),
        }
    }

    /// What a [`ReplayStore`](crate::store::ReplayStore) knows it by: a hash of its purpose, its client and its `jti`, so that
    /// no client spends what is another's.
    #[must_use]
    pub fn replay_key(&self) -> TokenHash {
        // no client id holds a NUL, so that no two pairs are written alike
        TokenHash::of(&format!("client_assertion\0{}\0{}", self.client_id, self.jti))
    }

    /// The instant from which nobody need remember it: a minute after it is refused as expired, so that a server whose clock is behind
    /// that of the one that forgets it, by a minute or less, refuses it too.
    #[must_use]
    pub fn replayable_until(&self) -> SystemTime {
        later(later(self.expires_at, CLIENT_LEEWAY), PURGE_ALLOWANCE)
    }

    /// Signs the assertion for the authorization server that is `issuer`.
    ///
    /// # Errors
    ///
    /// The signer failed, or a time lies before 1970.
    pub fn sign(&self, key: &SigningKey, issuer: &Issuer) -> Result<SignedClientAssertion, SigningError> {
        let client_id = self.client_id.as_str();
        let wire = Wire {
            iss: client_id.into(),
            sub: client_id.into(),
            aud: issuer.as_str().into(),
            jti: self.jti.as_str().into(),
            iat: self.issued_at.map(Into::into),
            exp: self.expires_at.into(),
            nbf: None,
        };
        let token = jwt::sign(key, TokenType::ClientAssertion, &wire)?;
        Ok(SignedClientAssertion(Zeroizing::new(token)))
    }

    /// Whom an assertion says that it is from, so that the keys of that client can be looked up. Nothing is
    /// believed yet.
    ///
    /// # Errors
    ///
    /// The token is malformed, or its `sub` is no client id.
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

    /// Verifies an assertion with the `keys` that the client is registered with.
    ///
    /// # Errors
    ///
    /// Anything is wrong with the token.
    ///
    /// # Security
    ///
    /// The caller has to spend [`replay_key`](Self::replay_key), until [`replayable_until`](Self::replayable_until), in its
    /// [`ReplayStore`](crate::store::ReplayStore): seen twice, it is a replay.
    pub fn verify(
        token: &str,
        keys: &KeySet,
        policy: &ClientAssertionPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        Self::verify_alike(token, Some(keys), policy, now)
    }

    /// As [`verify`](Self::verify), and as long for a client without keys: what is in order but for the key costs one signature of the
    /// algorithm that its header names, whether the client has such a key, another one, or does not exist.
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
        // the reason for the host is that of the key, where the key is not there
        let wire = checked.map_err(|error| key.err().unwrap_or(error))?;
        let verified = black_box(token.verify(key.unwrap_or_else(|_| stand_in::key(algorithm))));
        key.and(verified)?;
        Ok(Self {
            client_id: policy.client_id.clone(),
            jti: wire.jti.clone().into_owned(),
            issued_at: wire.iat.map(NumericDate::time),
            expires_at: wire.exp.time(),
        })
    }
}
