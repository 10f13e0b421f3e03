//! Logout tokens, [OpenID Connect Back-Channel Logout
//! §2.4](https://openid.net/specs/openid-connect-backchannel-1_0.html#LogoutToken).

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::claims::{Audiences, DEFAULT_LEEWAY, NumericDate, Times};
use super::compact::Compact;
use super::crypto::SigningError;
use super::jwt::{self, JwtError, TokenType};
use super::key_set::KeySet;
use super::signing_key::SigningKey;
use crate::ports::Entropy;
use crate::random::random_text;
use crate::secret::TokenHash;
use crate::time::{CLIENT_LEEWAY, PURGE_ALLOWANCE, later};
use crate::vocabulary::{ClientId, Issuer, Subject};

/// Lifetime of logout tokens that this crate signs: two minutes, the maximum that the specification
/// recommends.
const OWN_LIFE: Duration = Duration::from_secs(2 * 60);
/// Maximum time until `exp` of an accepted token: one hour, for issuers that send the same token in
/// each retry.
const MAX_LIFE: Duration = Duration::from_secs(60 * 60);
/// Member of `events` that marks a logout token.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// Claims of a logout token: the issuer tells a client that a session of a user has ended.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use oauth_core::jose::{KeySet, LogoutToken, SigningKey};
/// use oauth_core::ports::OsEntropy;
/// use oauth_core::vocabulary::{ClientId, Issuer};
///
/// let (issuer, web): (Issuer, ClientId) = ("https://as.example".parse()?, "demo-web".parse()?);
/// let key = SigningKey::generate_es256(&OsEntropy)?;
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let logout = LogoutToken {
///     session: Some("s1".to_owned()),
///     ..LogoutToken::new(issuer.clone(), web.clone(), &OsEntropy, now)
/// };
/// let token = logout.sign(&key)?;
///
/// let keys = KeySet::new([key.public_key().clone()])?;
/// let verified = LogoutToken::verify(&token, &keys, &issuer, &web, now)?;
/// assert_eq!(verified.session.as_deref(), Some("s1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogoutToken {
    /// `iss`: issuer of the session.
    pub issuer: Issuer,
    /// `aud`: client whose sessions end.
    pub audience: ClientId,
    /// `sub`: user. Without [`session`](Self::session), all sessions of the user end.
    pub subject: Option<Subject>,
    /// `sid` of the ID tokens of the session.
    pub session: Option<String>,
    /// `jti`: unique identifier of the token.
    pub jti: String,
    /// `iat`, truncated to whole seconds.
    pub issued_at: SystemTime,
    /// `exp`, truncated to whole seconds.
    pub expires_at: SystemTime,
}

/// Claims on the wire.
#[derive(Deserialize, Serialize)]
struct Wire<'a> {
    #[serde(borrow)]
    iss: Cow<'a, str>,
    #[serde(borrow)]
    aud: Audiences<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sub: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    jti: Cow<'a, str>,
    iat: NumericDate,
    exp: NumericDate,
    events: Map<String, Value>,
    /// Prohibited: an ID token must not pass as a logout token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonce: Option<Value>,
}

impl Wire<'_> {
    fn check(&self, issuer: &Issuer, client_id: &ClientId, now: SystemTime) -> Result<(), JwtError> {
        let is_logout = self.events.get(EVENT).is_some_and(Value::is_object);
        if !is_logout || self.nonce.is_some() {
            return Err(JwtError::WrongType);
        }
        if self.iss != issuer.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        let us = client_id.as_str();
        if self.aud.0.is_empty() || !self.aud.0.iter().all(|audience| audience == us) {
            return Err(JwtError::WrongAudience);
        }
        let names_one = self.sub.is_some() || self.sid.as_ref().is_some_and(|sid| !sid.is_empty());
        if !names_one || self.jti.is_empty() {
            return Err(JwtError::Malformed);
        }
        if self.exp.time() > later(now, MAX_LIFE) {
            return Err(JwtError::LivesTooLong);
        }
        Times {
            expires_at: self.exp,
            issued_at: self.iat,
            not_before: None,
        }
        .check(now, DEFAULT_LEEWAY)
    }
}

impl LogoutToken {
    /// Creates a token for a client with a random `jti`, which is valid for two minutes. The caller
    /// sets the [`subject`](Self::subject), the [`session`](Self::session) or both.
    #[must_use]
    pub fn new(issuer: Issuer, audience: ClientId, entropy: &dyn Entropy, now: SystemTime) -> Self {
        Self {
            issuer,
            audience,
            subject: None,
            session: None,
            jti: random_text::<16>("", entropy).to_string(),
            issued_at: now,
            expires_at: later(now, OWN_LIFE),
        }
    }

    /// Signs the token, with `typ` `logout+jwt`.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the signer failed or a time is before 1970.
    pub fn sign(&self, key: &SigningKey) -> Result<String, SigningError> {
        let wire = Wire {
            iss: self.issuer.as_str().into(),
            aud: Audiences(vec![self.audience.as_str().into()]),
            sub: self.subject.as_ref().map(|subject| subject.as_str().into()),
            sid: self.session.as_deref().map(Into::into),
            jti: self.jti.as_str().into(),
            iat: self.issued_at.into(),
            exp: self.expires_at.into(),
            events: Map::from_iter([(EVENT.to_owned(), Value::Object(Map::new()))]),
            nonce: None,
        };
        jwt::sign(key, TokenType::LogoutToken, &wire)
    }

    /// Verifies a token of `issuer` for the client `client_id`, [OpenID Connect Back-Channel Logout
    /// §2.6](https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation).
    ///
    /// Accepts `typ` `logout+jwt`, `JWT` and an absent `typ`, because issuers of earlier drafts do
    /// not set `logout+jwt`.
    ///
    /// # Errors
    ///
    /// [`JwtError`] when the token is invalid: [`WrongType`](JwtError::WrongType) for an ID token
    /// or a token about another event.
    ///
    /// # Security
    ///
    /// A token that is presented twice ends sessions twice. To refuse the second one, store
    /// [`replay_key`](Self::replay_key) in a [`ReplayStore`](crate::store::ReplayStore) until
    /// [`replayable_until`](Self::replayable_until).
    pub fn verify(
        token: &str,
        keys: &KeySet,
        issuer: &Issuer,
        client_id: &ClientId,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        let token = Compact::parse(token)?;
        let key = token.select_key(keys, TokenType::LogoutToken)?;
        let wire: Wire<'_> = token.claims()?;
        wire.check(issuer, client_id, now)?;
        token.verify(key)?;
        let subject = wire.sub.as_deref().map(str::parse).transpose();
        Ok(Self {
            issuer: issuer.clone(),
            audience: client_id.clone(),
            subject: subject.map_err(|_| JwtError::Malformed)?,
            session: wire.sid.as_deref().map(str::to_owned),
            jti: wire.jti.clone().into_owned(),
            issued_at: wire.iat.time(),
            expires_at: wire.exp.time(),
        })
    }

    /// Returns the key for a [`ReplayStore`](crate::store::ReplayStore): a hash of purpose, issuer
    /// and `jti`.
    #[must_use]
    pub fn replay_key(&self) -> TokenHash {
        // an issuer contains no NUL, so different pairs give different texts
        TokenHash::new(&format!("logout_token\0{}\0{}", self.issuer.as_str(), self.jti))
    }

    /// Returns the instant until which the [`replay_key`](Self::replay_key) must be stored.
    #[must_use]
    pub fn replayable_until(&self) -> SystemTime {
        later(later(self.expires_at, CLIENT_LEEWAY), PURGE_ALLOWANCE)
    }
}
