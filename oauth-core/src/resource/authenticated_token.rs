//! The proof of authentication: a verified access token.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use host_ports::Principal;
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL};
use http::{HeaderMap, HeaderValue};

use super::challenge::{Challenge, ChallengeReason, Realm};
use super::credentials::Scheme;
use crate::dpop;
use crate::jose::{AccessTokenClaims, MAX_LEEWAY};
use crate::vocabulary::{AccessTokenTerms, ClientId, Confirmation, Scope, Scopes, Subject};

/// A verified access token and the caller behind it.
///
/// Only [`ResourceServer::authenticate`](super::ResourceServer::authenticate) makes one, so a value of this type is the proof of
/// authentication. [`principal`](Self::principal) gives the plain value that resolvers and handlers share.
#[derive(Clone, Debug)]
pub struct AuthenticatedToken {
    granted: Arc<Granted>,
    realm: Arc<Realm>,
    scheme: Scheme,
    nonce: Option<HeaderValue>,
}

/// What a valid token grants, and to whom; shared by all who present it while it is remembered.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) terms: AccessTokenTerms,
    pub(super) token_id: String,
    pub(super) auth_time: Option<SystemTime>,
}

impl From<AccessTokenClaims> for Granted {
    fn from(claims: AccessTokenClaims) -> Self {
        Self {
            terms: claims.terms,
            token_id: claims.jti,
            auth_time: claims.auth_time,
        }
    }
}

impl AuthenticatedToken {
    pub(super) const fn new(
        granted: Arc<Granted>,
        realm: Arc<Realm>,
        scheme: Scheme,
        nonce: Option<HeaderValue>,
    ) -> Self {
        Self {
            granted,
            realm,
            scheme,
            nonce,
        }
    }

    /// The caller as a plain value, for code that needs no proof: subject and scopes, no roles.
    #[must_use]
    pub fn principal(&self) -> Principal {
        Principal::new(self.granted.terms.subject.as_str()).with_scopes(self.granted.terms.scopes.clone())
    }

    /// On whose behalf the call is made: a person, or the client itself.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.granted.terms.subject
    }

    /// The client that makes the call.
    #[must_use]
    pub fn client_id(&self) -> &ClientId {
        &self.granted.terms.client_id
    }

    /// What the token permits.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.granted.terms.scopes
    }

    /// What the caller has proven to have, beside the token.
    #[must_use]
    pub fn confirmation(&self) -> Option<Confirmation> {
        self.granted.terms.confirmation
    }

    /// The headers that the answer should have, whatever it is: none, or those that hand out a [nonce](Self::dpop_nonce), from no cache
    /// and to a script in a browser, too. In the place of the `Cache-Control` that it had, and beside other
    /// `Access-Control-Expose-Headers`.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(nonce) = &self.nonce {
            headers.insert(dpop::NONCE_HEADER, nonce.clone());
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            let exposed = HeaderValue::from_static("DPoP-Nonce");
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        headers
    }

    /// The value of the header [`DPoP-Nonce`](crate::dpop::NONCE_HEADER) that the answer should have, for hosts that write it without
    /// [`headers`](Self::headers): the nonce that the caller proved with will soon be refused. That answer must not be stored, or it
    /// would be handed out when it is none any more ([RFC 9449 §8.2](https://www.rfc-editor.org/rfc/rfc9449#section-8.2)).
    #[must_use]
    pub fn dpop_nonce(&self) -> Option<&HeaderValue> {
        self.nonce.as_ref()
    }

    /// The unique name of the token.
    #[must_use]
    pub fn token_id(&self) -> &str {
        &self.granted.token_id
    }

    /// When the token ends, and with it whatever was built on it: a subscription, for instance.
    #[must_use]
    pub fn expires_at(&self) -> SystemTime {
        self.granted.terms.expires_at
    }

    /// When the person signed in, if the issuer says so.
    #[must_use]
    pub fn auth_time(&self) -> Option<SystemTime> {
        self.granted.auth_time
    }

    /// Demands a scope.
    ///
    /// # Errors
    ///
    /// The token lacks it: a 403 with `insufficient_scope`.
    pub fn require(&self, scope: &Scope) -> Result<(), Challenge> {
        if self.granted.terms.scopes.contains(scope) {
            Ok(())
        } else {
            Err(self.insufficient([scope.clone()].into_iter().collect()))
        }
    }

    /// Demands several scopes at once, so that a client that lacks two need not be refused twice.
    ///
    /// # Errors
    ///
    /// The token lacks one or more of them: a 403 with `insufficient_scope` that names all.
    pub fn require_all(&self, scopes: &Scopes) -> Result<(), Challenge> {
        if scopes.is_subset(&self.granted.terms.scopes) {
            Ok(())
        } else {
            Err(self.insufficient(scopes.clone()))
        }
    }

    /// Demands that the person signed in no longer than `max_age` ago, so that an action of weight can ask for them to prove anew who
    /// they are ([RFC 9470](https://www.rfc-editor.org/rfc/rfc9470)): the client sends them to the issuer with the `max_age` of the
    /// challenge, and comes back with another token.
    ///
    /// The issuer says when that was in whole seconds, and by its own clock, which may be ahead by a minute: what is shorter than a minute
    /// may refuse who has just signed in.
    ///
    /// # Errors
    ///
    /// It was longer ago, or lies ahead by more, the issuer does not say when, or the client acts for itself: a 401 with `insufficient_user_authentication`.
    pub fn require_sign_in_within(&self, max_age: Duration, now: SystemTime) -> Result<(), Challenge> {
        let is_recent = |then: SystemTime| match now.duration_since(then) {
            Ok(age) => age <= max_age,
            // what lies ahead would be recent for ever
            Err(ahead) => ahead.duration() <= MAX_LEEWAY,
        };
        if self.granted.auth_time.is_some_and(is_recent) {
            Ok(())
        } else {
            let reason = ChallengeReason::SignInTooOld(max_age);
            Err(Challenge::new(&self.realm, Some(self.scheme), reason))
        }
    }

    fn insufficient(&self, scopes: Scopes) -> Challenge {
        let reason = ChallengeReason::InsufficientScope(scopes);
        Challenge::new(&self.realm, Some(self.scheme), reason)
    }
}
