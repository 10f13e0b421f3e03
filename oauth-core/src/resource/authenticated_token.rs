//! Verified access tokens.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use host_ports::Principal;
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL};
use http::{HeaderMap, HeaderValue};

use super::challenge::{Challenge, ChallengeReason, Realm};
use super::credentials::Scheme;
use crate::dpop;
use crate::jose::{MAX_LEEWAY, Profiled};
use crate::vocabulary::{AccessTokenTerms, ClientId, Confirmation, Scope, Scopes, Subject};

/// The verified access token of a request: subject, client, scopes and binding.
///
/// Only [`ResourceServer::authenticate`](super::ResourceServer::authenticate) creates it, so a
/// value of this type proves that the request is authenticated. [`principal`](Self::principal)
/// returns a plain value without that proof.
#[derive(Clone, Debug)]
pub struct AuthenticatedToken {
    granted: Arc<Granted>,
    realm: Arc<Realm>,
    scheme: Scheme,
    nonce: Option<HeaderValue>,
}

/// Content of a valid token, shared by all requests that present the token while it is cached.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) terms: AccessTokenTerms,
    pub(super) token_id: String,
    pub(super) auth_time: Option<SystemTime>,
    pub(super) roles: Vec<String>,
    pub(super) tenant: Option<String>,
}

impl From<Profiled> for Granted {
    fn from(
        Profiled {
            claims,
            roles,
            tenant,
        }: Profiled,
    ) -> Self {
        Self {
            terms: claims.terms,
            token_id: claims.jti,
            auth_time: claims.auth_time,
            roles,
            tenant,
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

    /// Returns the caller as a plain value with subject, scopes and [roles](Self::roles).
    #[must_use]
    pub fn principal(&self) -> Principal {
        let Granted { terms, roles, .. } = &*self.granted;
        Principal::new(terms.subject.as_str())
            .with_scopes(terms.scopes.clone())
            .with_roles(roles.iter().cloned())
    }

    /// Returns the subject of the token: a user, or the client itself if no user is involved.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.granted.terms.subject
    }

    /// Returns the client to which the token was issued.
    #[must_use]
    pub fn client_id(&self) -> &ClientId {
        &self.granted.terms.client_id
    }

    /// Returns the scopes of the token.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.granted.terms.scopes
    }

    /// Returns the roles of the subject, where the
    /// [issuer profile](super::ResourceServer::with_issuer_profile) knows their claim; empty for
    /// RFC 9068 and for introspection.
    #[must_use]
    pub fn roles(&self) -> &[String] {
        &self.granted.roles
    }

    /// Returns the tenant of the subject, for Microsoft Entra ID (`tid`).
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.granted.tenant.as_deref()
    }

    /// Returns the binding that the sender proved, a DPoP key or a certificate; `None` for a bearer
    /// token.
    #[must_use]
    pub fn confirmation(&self) -> Option<Confirmation> {
        self.granted.terms.confirmation
    }

    /// Returns the headers that the host must add to its response, whatever the status. They are
    /// `DPoP-Nonce`, `Cache-Control` and `Access-Control-Expose-Headers` if the response must carry
    /// a [nonce](Self::dpop_nonce), otherwise the map is empty. Replace an existing
    /// `Cache-Control`. Append to an existing `Access-Control-Expose-Headers`.
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

    /// Returns the value of the response header [`DPoP-Nonce`](crate::dpop::NONCE_HEADER), for
    /// hosts that do not use [`headers`](Self::headers). It is `Some` if the nonce of the request
    /// is no longer the newest. Forbid caching of this response, because a cache would later send
    /// an expired nonce ([RFC 9449 §8.2](https://www.rfc-editor.org/rfc/rfc9449#section-8.2)).
    #[must_use]
    pub fn dpop_nonce(&self) -> Option<&HeaderValue> {
        self.nonce.as_ref()
    }

    /// Returns the `jti` of the token; empty if the token or the introspection response has none.
    #[must_use]
    pub fn token_id(&self) -> &str {
        &self.granted.token_id
    }

    /// Returns the instant at which the token expires. The host must end long operations, such as
    /// subscriptions, at this instant.
    #[must_use]
    pub fn expires_at(&self) -> SystemTime {
        self.granted.terms.expires_at
    }

    /// Returns the instant of the user's authentication, if the issuer sends `auth_time`.
    #[must_use]
    pub fn auth_time(&self) -> Option<SystemTime> {
        self.granted.auth_time
    }

    /// Requires a scope.
    ///
    /// # Errors
    ///
    /// A [`Challenge`] with 403 `insufficient_scope` when the token lacks the scope.
    pub fn require(&self, scope: &Scope) -> Result<(), Challenge> {
        if self.granted.terms.scopes.contains(scope) {
            Ok(())
        } else {
            Err(self.insufficient([scope.clone()].into_iter().collect()))
        }
    }

    /// Requires several scopes at once. The challenge then names all of them.
    ///
    /// # Errors
    ///
    /// A [`Challenge`] with 403 `insufficient_scope` that names all scopes, when the token lacks
    /// one or more of them.
    pub fn require_all(&self, scopes: &Scopes) -> Result<(), Challenge> {
        if scopes.is_subset(&self.granted.terms.scopes) {
            Ok(())
        } else {
            Err(self.insufficient(scopes.clone()))
        }
    }

    /// Requires a [role](Self::roles) of the subject. The challenge names no scope: roles are
    /// assigned at the issuer, and a client cannot request them.
    ///
    /// # Errors
    ///
    /// A [`Challenge`] with 403 `insufficient_scope` when the subject lacks the role.
    pub fn require_role(&self, role: &str) -> Result<(), Challenge> {
        if self.granted.roles.iter().any(|granted| granted == role) {
            Ok(())
        } else {
            let reason = ChallengeReason::MissingRole(role.into());
            Err(Challenge::new(&self.realm, Some(self.scheme), reason))
        }
    }

    /// Requires that the user authenticated no longer than `max_age` ago: step-up authentication
    /// for sensitive actions ([RFC 9470](https://www.rfc-editor.org/rfc/rfc9470)). The client sends
    /// the user to the issuer with the `max_age` of the challenge, gets a new token and repeats the
    /// request.
    ///
    /// `auth_time` comes from the clock of the issuer, truncated to whole seconds. The issuer's
    /// clock may be one minute ahead. If it is behind, a `max_age` under one minute may refuse
    /// users who have just authenticated.
    ///
    /// # Errors
    ///
    /// A [`Challenge`] with 401 `insufficient_user_authentication` when the authentication is
    /// older, is more than a minute in the future, or is unknown: the issuer sends no `auth_time`,
    /// or the client acts for itself.
    pub fn require_sign_in_within(&self, max_age: Duration, now: SystemTime) -> Result<(), Challenge> {
        let is_recent = |then: SystemTime| match now.duration_since(then) {
            Ok(age) => age <= max_age,
            // an `auth_time` far in the future would count as recent for too long
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
