//! ID tokens, [OpenID Connect Core §2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken).

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
use crate::vocabulary::{ClientId, Issuer, Nonce, Subject};

/// What an ID token says about a person who signed in.
///
/// # Security
///
/// It tells a client who somebody is. It is no credential: an API that accepts it lets every other client in.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdTokenClaims {
    /// `iss`: who vouches for it.
    pub issuer: Issuer,
    /// `sub`: who signed in; unique and never reassigned within the issuer.
    pub subject: Subject,
    /// `aud`: the one client it is for.
    pub audience: ClientId,
    /// `nonce`: exactly that of the authorization request.
    pub nonce: Option<Nonce>,
    /// `iat`, cut to whole seconds.
    pub issued_at: SystemTime,
    /// `exp`, cut to whole seconds.
    pub expires_at: SystemTime,
    /// `auth_time`: when the person signed in, cut to whole seconds.
    pub auth_time: Option<SystemTime>,
    /// `email`.
    pub email: Option<String>,
    /// `email_verified`: whether the issuer knows that the address is the person's.
    pub email_verified: Option<bool>,
    /// `name`.
    pub name: Option<String>,
}

/// Which ID tokens are accepted: those of one issuer for one client, and of one sign-in where that is known.
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
    /// Tokens of this issuer for this client, with clocks that differ by at most five seconds.
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

    /// Accepts this algorithm only, as agreed on when the client was registered; without it, that of the
    /// issuer's key counts.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// Sets how far clocks may differ; more than a minute counts as a minute.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.leeway = capped(leeway);
        self
    }

    /// Demands the nonce of the authorization request.
    #[must_use]
    pub fn with_nonce(mut self, nonce: Nonce) -> Self {
        self.nonce = Some(nonce);
        self
    }

    /// Demands the person of the first sign-in, for a token that came with a refresh.
    #[must_use]
    pub fn with_subject(mut self, subject: Subject) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Demands that `at_hash`, where there is one, is that of the access token that came along.
    #[must_use]
    pub fn with_access_token(mut self, access_token: AccessToken) -> Self {
        self.access_token = Some(access_token);
        self
    }

    /// Demands that the person signed in at this instant or later, as `auth_time` tells: that of the authorization request, less the
    /// `max_age` that it asked for.
    #[must_use]
    pub fn with_signed_in_since(mut self, earliest: SystemTime) -> Self {
        self.signed_in_since = Some(earliest);
        self
    }

    fn check(&self, claims: &Wire<'_>, algorithm: Algorithm, now: SystemTime) -> Result<(), JwtError> {
        if self.algorithm.is_some_and(|pinned| pinned != algorithm) {
            return Err(JwtError::UnsupportedAlgorithm);
        }
        if claims.iss != self.issuer.as_str() {
            return Err(JwtError::WrongIssuer);
        }
        // no other audience is trusted, so that `azp` can only repeat what `aud` says
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

    /// Checks when the person signed in, where that matters.
    fn check_sign_in(&self, auth_time: Option<NumericDate>, now: SystemTime) -> Result<(), JwtError> {
        let Some(earliest) = self.signed_in_since else {
            return Ok(());
        };
        let signed_in_at = auth_time.ok_or(JwtError::SignInTooOld)?.time();
        if later(signed_in_at, self.leeway) < earliest {
            return Err(JwtError::SignInTooOld);
        }
        // what lies ahead would be recent for ever
        if signed_in_at > later(now, self.leeway) {
            return Err(JwtError::NotYetValid);
        }
        Ok(())
    }

    /// Checks what ties the token to this sign-in.
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

/// The claims as they are on the wire.
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
}

impl IdTokenClaims {
    /// Signs the claims; `access_token` is the one that goes out beside the ID token, and is bound to it by
    /// `at_hash`.
    ///
    /// # Errors
    ///
    /// The signer failed, or a time lies before 1970.
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
        };
        jwt::sign(key, TokenType::IdToken, &wire)
    }

    /// Whom a token says that it is about. Nothing of it is verified: good for noticing that it is somebody else.
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

    /// Verifies a token and reads its claims,
    /// [OpenID Connect Core §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation).
    ///
    /// # Errors
    ///
    /// Anything is wrong with the token.
    pub fn verify(
        token: &str,
        keys: &KeySet,
        policy: &IdTokenPolicy,
        now: SystemTime,
    ) -> Result<Self, JwtError> {
        let token = Compact::parse(token)?;
        let key = token.select_key(keys, TokenType::IdToken)?;
        let wire: Wire<'_> = token.claims()?;
        policy.check(&wire, key.algorithm(), now)?;
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
        })
    }
}
