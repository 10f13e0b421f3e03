//! ID tokens, [OpenID Connect Core
//! §2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken).

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::algorithm::Algorithm;
use super::claims::{Audiences, DEFAULT_LEEWAY, NumericDate, Times, capped};
use super::compact::Compact;
use super::crypto::SigningError;
use super::jwt::{self, JwtError, TokenType};
use super::key_set::KeySet;
use super::signing_key::SigningKey;
use crate::json;
use crate::secret::AccessToken;
use crate::time::later;
use crate::vocabulary::{Claims, ClientId, Issuer, Nonce, Subject};

/// Claims of an ID token about a user who signed in.
///
/// # Security
///
/// An ID token informs a client about its user. It is not a credential: an API must not accept it,
/// because every client that the user signed in to has an ID token of the user.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdTokenClaims {
    /// `iss`: issuer.
    pub issuer: Issuer,
    /// `sub`: identifier of the user, unique within the issuer and never reassigned.
    pub subject: Subject,
    /// `aud`: client for which the token was issued.
    pub audience: ClientId,
    /// `nonce` of the authorization request.
    pub nonce: Option<Nonce>,
    /// `iat`, truncated to whole seconds.
    pub issued_at: SystemTime,
    /// `exp`, truncated to whole seconds.
    pub expires_at: SystemTime,
    /// `auth_time`: instant of the user's authentication, truncated to whole seconds.
    pub auth_time: Option<SystemTime>,
    /// `email`: email address of the user.
    pub email: Option<String>,
    /// `email_verified`: `true` if the issuer verified that the address belongs to the user.
    pub email_verified: Option<bool>,
    /// `name`: full name of the user, for display.
    pub name: Option<String>,
    /// All other claims, for example `sid` and `acr`.
    pub claims: Claims,
}

/// Policy for accepting ID tokens of one issuer for one client. It can also require the values of
/// one sign-in: nonce, user, access token and `auth_time`.
#[derive(Clone, Debug)]
pub struct IdTokenPolicy {
    issuer: Issuer,
    client_id: ClientId,
    algorithm: Option<Algorithm>,
    leeway: Duration,
    nonce: Option<Nonce>,
    subject: Option<Subject>,
    access_token: Option<AccessToken>,
    signed_in_since: Option<SystemTime>,
}

impl IdTokenPolicy {
    /// Creates a policy that accepts tokens from `issuer` for `client_id`, with a clock difference
    /// of at most five seconds.
    #[must_use]
    pub fn new(issuer: Issuer, client_id: ClientId) -> Self {
        Self {
            issuer,
            client_id,
            algorithm: None,
            leeway: DEFAULT_LEEWAY,
            nonce: None,
            subject: None,
            access_token: None,
            signed_in_since: None,
        }
    }

    /// Accepts only this algorithm, for example the `id_token_signed_response_alg` that is
    /// registered for the client. By default any algorithm of this crate is accepted, as determined
    /// by the issuer's key.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// Sets the tolerated clock difference. Default: five seconds. Longer values are reduced to one
    /// minute.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.leeway = capped(leeway);
        self
    }

    /// Requires the nonce of the authorization request.
    #[must_use]
    pub fn with_nonce(mut self, nonce: Nonce) -> Self {
        self.nonce = Some(nonce);
        self
    }

    /// Requires this `sub`. For an ID token from a refresh, pass the user of the sign-in.
    #[must_use]
    pub fn with_subject(mut self, subject: Subject) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Requires that `at_hash`, if present, matches this access token.
    #[must_use]
    pub fn with_access_token(mut self, access_token: AccessToken) -> Self {
        self.access_token = Some(access_token);
        self
    }

    /// Requires an `auth_time` at or after `earliest`, with the tolerated clock difference. Pass
    /// the instant of the authorization request minus its `max_age`.
    #[must_use]
    pub fn with_signed_in_since(mut self, earliest: SystemTime) -> Self {
        self.signed_in_since = Some(earliest);
        self
    }

    fn check(&self, claims: &Wire<'_>, algorithm: Algorithm, now: SystemTime) -> Result<(), JwtError> {
        if self.algorithm.is_some_and(|pinned| pinned != algorithm) {
            return Err(JwtError::UnsupportedAlgorithm);
        }
        // a logout token or another security event
        if claims.claims.get("events").is_some() {
            return Err(JwtError::WrongType);
        }
        if claims.iss != self.issuer.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        // no other audience is trusted, so `azp` must be this client if it is present
        let us = self.client_id.as_str();
        let only_us = !claims.aud.0.is_empty() && claims.aud.0.iter().all(|audience| audience == us);
        if !only_us || claims.azp.as_deref().is_some_and(|party| party != us) {
            return Err(JwtError::WrongAudience);
        }
        self.check_binding(claims, algorithm)?;
        Times {
            expires_at: claims.exp,
            issued_at: claims.iat,
            not_before: claims.nbf,
        }
        .check(now, self.leeway)?;
        self.check_sign_in(claims.auth_time, now)
    }

    /// Checks `auth_time` if the policy requires one.
    fn check_sign_in(&self, auth_time: Option<NumericDate>, now: SystemTime) -> Result<(), JwtError> {
        let Some(earliest) = self.signed_in_since else {
            return Ok(());
        };
        let signed_in_at = auth_time.ok_or(JwtError::SignInTooOld)?.time();
        if later(signed_in_at, self.leeway) < earliest {
            return Err(JwtError::SignInTooOld);
        }
        // an `auth_time` in the future would count as recent for too long
        if signed_in_at > later(now, self.leeway) {
            return Err(JwtError::NotYetValid);
        }
        Ok(())
    }

    /// Checks the claims that bind the token to one sign-in: `nonce`, `sub` and `at_hash`.
    fn check_binding(&self, claims: &Wire<'_>, algorithm: Algorithm) -> Result<(), JwtError> {
        let nonce_matches = |nonce: &Nonce| {
            claims
                .nonce
                .as_deref()
                .is_some_and(|presented| nonce.matches(presented))
        };
        if !self.nonce.as_ref().is_none_or(nonce_matches) {
            return Err(JwtError::WrongNonce);
        }
        if self
            .subject
            .as_ref()
            .is_some_and(|subject| claims.sub != subject.as_str())
        {
            return Err(JwtError::WrongSubject);
        }
        if let (Some(hash), Some(token)) = (claims.at_hash.as_deref(), &self.access_token) {
            let expected = algorithm.half_hash(token.expose());
            if !bool::from(expected.as_bytes().ct_eq(hash.as_bytes())) {
                return Err(JwtError::WrongAccessToken);
            }
        }
        Ok(())
    }
}

/// Claims on the wire.
#[derive(Deserialize, Serialize)]
struct Wire<'a> {
    #[serde(borrow)]
    iss: Cow<'a, str>,
    #[serde(borrow)]
    sub: Cow<'a, str>,
    #[serde(borrow)]
    aud: Audiences<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    azp: Option<Cow<'a, str>>,
    iat: NumericDate,
    exp: NumericDate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<NumericDate>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    nonce: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    at_hash: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth_time: Option<NumericDate>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    email: Option<Cow<'a, str>>,
    #[serde(
        default,
        deserialize_with = "json::flag",
        skip_serializing_if = "Option::is_none"
    )]
    email_verified: Option<bool>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(flatten)]
    claims: Claims,
}

/// Content of an `id_token_hint`.
pub(crate) struct IdTokenHint {
    pub(crate) subject: Subject,
    pub(crate) audience: Vec<ClientId>,
    /// `sid`: the session of the sign-in.
    pub(crate) sid: Option<String>,
}

impl IdTokenClaims {
    /// Signs the claims. With `access_token`, the access token of the same response, the ID token
    /// contains its `at_hash`.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the signer failed or a time is before 1970.
    pub fn sign(&self, key: &SigningKey, access_token: Option<&AccessToken>) -> Result<String, SigningError> {
        let wire = Wire {
            iss: self.issuer.as_str().into(),
            sub: self.subject.as_str().into(),
            aud: Audiences(vec![self.audience.as_str().into()]),
            azp: None,
            iat: self.issued_at.into(),
            exp: self.expires_at.into(),
            nbf: None,
            nonce: self.nonce.as_ref().map(|nonce| nonce.as_str().into()),
            at_hash: access_token.map(|token| key.algorithm().half_hash(token.expose()).into()),
            auth_time: self.auth_time.map(Into::into),
            email: self.email.as_deref().map(Into::into),
            email_verified: self.email_verified,
            name: self.name.as_deref().map(Into::into),
            claims: self.claims.clone(),
        };
        jwt::sign(key, TokenType::IdToken, &wire)
    }

    /// Verifies an ID token that a client sends back to its issuer, as `id_token_hint`: the issuer
    /// and the signature, but not the expiry.
    pub(crate) fn verify_hint(token: &str, keys: &KeySet, issuer: &Issuer) -> Result<IdTokenHint, JwtError> {
        let token = Compact::parse(token)?;
        let key = token.select_key(keys, TokenType::IdToken)?;
        let wire: Wire<'_> = token.claims()?;
        if wire.iss != issuer.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        token.verify(key)?;
        let audience = wire.aud.0.iter().map(|client| client.parse());
        Ok(IdTokenHint {
            subject: wire.sub.parse().map_err(|_| JwtError::Malformed)?,
            audience: audience
                .collect::<Result<_, _>>()
                .map_err(|_| JwtError::Malformed)?,
            sid: wire.claims.get_str("sid").map(str::to_owned),
        })
    }

    /// Returns the `sub` of a token without verifying the token, so that a token of another user
    /// can be refused early. `None` if the token is malformed.
    pub(crate) fn alleged_subject(token: &str) -> Option<Subject> {
        #[derive(Deserialize)]
        struct Alleged<'a> {
            #[serde(borrow)]
            sub: Cow<'a, str>,
        }
        let token = Compact::parse(token).ok()?;
        let claims: Alleged<'_> = token.claims().ok()?;
        claims.sub.parse().ok()
    }

    /// Verifies a token and returns its claims, [OpenID Connect Core
    /// §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation).
    ///
    /// # Errors
    ///
    /// [`JwtError`] when the token is invalid.
    pub fn verify(
        token: &str,
        keys: &KeySet,
        policy: &IdTokenPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        let token = Compact::parse(token)?;
        let key = token.select_key(keys, TokenType::IdToken)?;
        let wire: Wire<'_> = token.claims()?;
        policy.check(&wire, key.algorithm, now)?;
        token.verify(key)?;
        let optional = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        Ok(Self {
            issuer: policy.issuer.clone(),
            subject: wire.sub.parse().map_err(|_| JwtError::Malformed)?,
            audience: policy.client_id.clone(),
            nonce: wire
                .nonce
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(|_| JwtError::Malformed)?,
            issued_at: wire.iat.time(),
            expires_at: wire.exp.time(),
            auth_time: wire.auth_time.map(NumericDate::time),
            email: optional(&wire.email),
            email_verified: wire.email_verified,
            name: optional(&wire.name),
            claims: wire.claims,
        })
    }
}
