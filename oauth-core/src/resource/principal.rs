//! Who is calling.

use std::time::SystemTime;

use super::challenge::{Challenge, ChallengeReason};
use crate::jose::AccessTokenClaims;
use crate::vocabulary::{Audience, ClientId, Scope, Scopes, Subject};

/// The caller behind a valid access token.
///
/// Only [`ResourceServer::authenticate`](super::ResourceServer::authenticate) makes one, so holding it is the
/// proof.
#[derive(Clone, Debug)]
pub struct Principal {
    claims: AccessTokenClaims,
    realm: Audience,
}

impl Principal {
    pub(super) fn new(claims: AccessTokenClaims, realm: Audience) -> Self {
        Self { claims, realm }
    }

    /// On whose behalf the call is made: a person, or the client itself.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.claims.subject
    }

    /// The client that makes the call.
    #[must_use]
    pub fn client_id(&self) -> &ClientId {
        &self.claims.client_id
    }

    /// What the token permits.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.claims.scopes
    }

    /// The unique name of the token.
    #[must_use]
    pub fn token_id(&self) -> &str {
        &self.claims.jti
    }

    /// When the token ends, and with it whatever was built on it: a subscription, for instance.
    #[must_use]
    pub fn expires_at(&self) -> SystemTime {
        self.claims.expires_at
    }

    /// When the person signed in, if the issuer says so.
    #[must_use]
    pub fn auth_time(&self) -> Option<SystemTime> {
        self.claims.auth_time
    }

    /// Demands a scope.
    ///
    /// # Errors
    ///
    /// The token lacks it: a 403 with `insufficient_scope`.
    pub fn require(&self, scope: &Scope) -> Result<(), Challenge> {
        if self.claims.scopes.contains(scope) {
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
        if scopes.is_subset(&self.claims.scopes) {
            Ok(())
        } else {
            Err(self.insufficient(scopes.clone()))
        }
    }

    fn insufficient(&self, scopes: Scopes) -> Challenge {
        Challenge::new(&self.realm, ChallengeReason::InsufficientScope(scopes))
    }
}
