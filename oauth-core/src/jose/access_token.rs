//! Access tokens as JWTs, [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068).

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::claims::{Audiences, DEFAULT_LEEWAY, NumericDate, Times, capped};
use super::compact::Compact;
use super::crypto::SigningError;
use super::issuer_profile::{IssuerProfile, Profiled};
use super::jwt::{self, JwtError, TokenType};
use super::key_set::KeySet;
use super::signing_key::SigningKey;
use crate::json;
use crate::secret::AccessToken;
use crate::vocabulary::{AccessTokenTerms, Audience, Claims, Confirmation, Issuer, Scopes};

/// Claims of a JWT access token.
///
/// The [module](super) has an example.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AccessTokenClaims {
    /// `iss`: issuer.
    pub issuer: Issuer,
    /// `sub`, `aud`, `client_id`, `scope`, `cnf`, `iat` and `exp`; the last two are truncated to
    /// whole seconds.
    pub terms: AccessTokenTerms,
    /// `jti`: identifier of the token, unique within the issuer.
    pub jti: String,
    /// `auth_time`: instant of the user's authentication, truncated to whole seconds.
    pub auth_time: Option<SystemTime>,
}

/// Policy for accepting JWT access tokens.
#[derive(Clone, Debug)]
pub struct AccessTokenPolicy {
    issuer: Issuer,
    audience: Audience,
    leeway: Duration,
    profile: IssuerProfile,
}

impl AccessTokenPolicy {
    /// Creates a policy that accepts tokens by RFC 9068 from `issuer` for `audience`, with a clock
    /// difference of at most five seconds.
    #[must_use]
    pub fn new(issuer: Issuer, audience: Audience) -> Self {
        Self {
            issuer,
            audience,
            leeway: DEFAULT_LEEWAY,
            profile: IssuerProfile::rfc9068(),
        }
    }

    /// Sets the shape of the issuer's tokens.
    #[must_use]
    pub fn with_issuer_profile(mut self, profile: IssuerProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the tolerated clock difference. Default: five seconds. Longer values are reduced to one
    /// minute.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.leeway = capped(leeway);
        self
    }

    /// Returns the accepted issuer.
    pub(crate) const fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Returns the accepted audience.
    pub(crate) const fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Returns the tolerated clock difference.
    pub(crate) const fn leeway(&self) -> Duration {
        self.leeway
    }

    fn check(&self, claims: &Wire<'_>, now: SystemTime) -> Result<(), JwtError> {
        if claims.iss != self.issuer.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        if !claims.aud.contains(self.audience.as_str()) {
            return Err(JwtError::WrongAudience);
        }
        Times {
            expires_at: claims.exp,
            issued_at: claims.iat,
            not_before: claims.nbf,
        }
        .check(now, self.leeway)
    }
}

/// Claims on the wire, [RFC 9068 §2.2](https://www.rfc-editor.org/rfc/rfc9068#section-2.2).
#[derive(Deserialize, Serialize)]
struct Wire<'a> {
    #[serde(borrow)]
    iss: Cow<'a, str>,
    #[serde(borrow)]
    sub: Cow<'a, str>,
    #[serde(borrow)]
    aud: Audiences<'a>,
    #[serde(borrow)]
    client_id: Cow<'a, str>,
    #[serde(borrow)]
    jti: Cow<'a, str>,
    iat: NumericDate,
    exp: NumericDate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<NumericDate>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    scope: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth_time: Option<NumericDate>,
    #[serde(
        default,
        deserialize_with = "json::some",
        skip_serializing_if = "Option::is_none"
    )]
    cnf: Option<Value>,
}

impl AccessTokenClaims {
    /// Signs the claims as a JWT with `typ` `at+jwt`.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the signer failed, a time is before 1970, or the token exceeds 16 KiB.
    pub fn sign(&self, key: &SigningKey) -> Result<AccessToken, SigningError> {
        let token = jwt::sign(key, TokenType::AccessToken, &self.to_wire()?)?;
        AccessToken::from_compact(token).map_err(SigningError::new)
    }

    /// Signs the claims, and further claims of the host, as a JWT with `typ` `at+jwt`.
    ///
    /// # Errors
    ///
    /// See [`sign`](Self::sign).
    pub fn sign_with(&self, claims: &Claims, key: &SigningKey) -> Result<AccessToken, SigningError> {
        #[derive(Serialize)]
        struct Extended<'a> {
            #[serde(flatten)]
            wire: Wire<'a>,
            #[serde(flatten)]
            claims: &'a Claims,
        }
        if claims.is_empty() {
            return self.sign(key);
        }
        let wire = self.to_wire()?;
        let token = jwt::sign(key, TokenType::AccessToken, &Extended { wire, claims })?;
        AccessToken::from_compact(token).map_err(SigningError::new)
    }

    fn to_wire(&self) -> Result<Wire<'_>, SigningError> {
        let terms = &self.terms;
        Ok(Wire {
            iss: self.issuer.as_str().into(),
            sub: terms.subject.as_str().into(),
            aud: Audiences(
                terms
                    .audience
                    .iter()
                    .map(|audience| audience.as_str().into())
                    .collect(),
            ),
            client_id: terms.client_id.as_str().into(),
            jti: self.jti.as_str().into(),
            iat: terms.issued_at.into(),
            exp: terms.expires_at.into(),
            nbf: None,
            scope: (!terms.scopes.is_empty()).then(|| terms.scopes.to_string().into()),
            auth_time: self.auth_time.map(Into::into),
            cnf: terms
                .confirmation
                .map(serde_json::to_value)
                .transpose()
                .map_err(SigningError::new)?,
        })
    }

    /// Verifies a token and returns its claims, [RFC 9068
    /// §4](https://www.rfc-editor.org/rfc/rfc9068#section-4).
    ///
    /// # Errors
    ///
    /// [`JwtError`] when the token is invalid. A sender-constrained token (one with `cnf`) is
    /// refused, because this function does not check a proof of possession.
    /// [`ResourceServer`](crate::resource::ResourceServer) does.
    pub fn verify(
        token: &str,
        keys: &KeySet,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        let claims = Self::verify_bound(token, keys, policy, now)?.claims;
        match claims.terms.confirmation {
            None => Ok(claims),
            Some(_) => Err(JwtError::SenderConstrained),
        }
    }

    /// Like [`verify`](Self::verify), but accepts sender-constrained tokens. The caller must check
    /// the proof of possession.
    pub(crate) fn verify_bound(
        token: &str,
        keys: &KeySet,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Profiled, JwtError> {
        policy.profile.verify(token, keys, policy, now)
    }

    /// Verifies a token of the shape of RFC 9068.
    pub(super) fn verify_rfc9068(
        token: &str,
        keys: &KeySet,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        let token = Compact::parse(token)?;
        let key = token.select_key(keys, TokenType::AccessToken)?;
        let wire: Wire<'_> = token.claims()?;
        policy.check(&wire, now)?;
        let confirmation = wire.cnf.as_ref().map(Confirmation::deserialize).transpose();
        // `cnf` has a confirmation method that this crate cannot check
        let confirmation = confirmation.map_err(|_| JwtError::SenderConstrained)?;
        token.verify(key)?;
        Self::from_wire(&wire, &policy.issuer, confirmation)
    }

    fn from_wire(
        wire: &Wire<'_>,
        issuer: &Issuer,
        confirmation: Option<Confirmation>,
    ) -> Result<Self, JwtError> {
        if wire.jti.is_empty() {
            return Err(JwtError::Malformed);
        }
        let audience = wire
            .aud
            .0
            .iter()
            .map(|audience| audience.parse().map_err(|_| JwtError::Malformed));
        let scopes = match wire.scope.as_deref() {
            None | Some("") => Scopes::default(),
            Some(scopes) => scopes.parse().map_err(|_| JwtError::Malformed)?,
        };
        let terms = AccessTokenTerms {
            client_id: wire.client_id.parse().map_err(|_| JwtError::Malformed)?,
            subject: wire.sub.parse().map_err(|_| JwtError::Malformed)?,
            scopes,
            audience: audience.collect::<Result<_, _>>()?,
            confirmation,
            issued_at: wire.iat.time(),
            expires_at: wire.exp.time(),
        };
        Ok(Self {
            issuer: issuer.clone(),
            terms,
            jti: wire.jti.clone().into_owned(),
            auth_time: wire.auth_time.map(NumericDate::time),
        })
    }
}
