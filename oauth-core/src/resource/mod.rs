//! The resource server: who is calling this API, and may they.
//!
//! [`ResourceServer::authenticate`] takes the head of a request and answers with a [`Principal`] or a
//! [`Challenge`], without a store and without a network: access tokens are JWTs
//! ([RFC 9068](https://www.rfc-editor.org/rfc/rfc9068)), verified by pinned keys. [`Principal::require`]
//! guards an endpoint by scope.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::jose::{AccessTokenClaims, KeySet, SigningKey};
//! use oauth_core::ports::OsEntropy;
//! use oauth_core::resource::ResourceServer;
//!
//! let key = SigningKey::generate_es256(&OsEntropy)?;
//! let keys = KeySet::new([key.public_key().clone()])?;
//! let api = ResourceServer::new("https://as.example".parse()?, "https://api.example".parse()?, keys);
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let token = AccessTokenClaims {
//!     issuer: "https://as.example".parse()?,
//!     subject: "ada".parse()?,
//!     audience: vec!["https://api.example".parse()?],
//!     client_id: "demo-web".parse()?,
//!     scopes: "read:charges".parse()?,
//!     jti: "1".to_owned(),
//!     issued_at: now,
//!     expires_at: now + Duration::from_secs(600),
//!     auth_time: None,
//! }
//! .sign(&key)?;
//!
//! let bearer = format!("Bearer {}", token.expose());
//! let (parts, ()) = http::Request::get("/v1/charges").header("authorization", bearer).body(())?.into_parts();
//! let principal = api.authenticate(&parts, now)?;
//! assert_eq!(principal.subject().as_str(), "ada");
//! assert!(principal.require(&"read:charges".parse()?).is_ok());
//!
//! let refused = principal.require(&"write:refunds".parse()?).unwrap_err();
//! assert_eq!(refused.status(), 403);
//! assert_eq!(
//!     refused.www_authenticate(),
//!     r#"Bearer realm="https://api.example", error="insufficient_scope", scope="write:refunds""#
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod bearer;
pub(crate) mod challenge;
mod principal;

use std::time::{Duration, SystemTime};

use http::request::Parts;

pub use challenge::{Challenge, ChallengeReason};
pub use principal::Principal;

use crate::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet};
use crate::vocabulary::{Audience, Issuer};

/// Guards an API with the access tokens of one issuer.
///
/// Holds parsed keys; cheap to clone.
#[derive(Clone, Debug)]
pub struct ResourceServer {
    policy: AccessTokenPolicy,
    audience: Audience,
    keys: KeySet,
}

impl ResourceServer {
    /// Accepts tokens of `issuer` that are for `audience` and signed with one of `keys`.
    #[must_use]
    pub fn new(issuer: Issuer, audience: Audience, keys: KeySet) -> Self {
        Self {
            policy: AccessTokenPolicy::new(issuer, audience.clone()),
            audience,
            keys,
        }
    }

    /// Sets how far the clocks of issuer and API may differ: five seconds if not set, a minute at most.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.policy = self.policy.with_leeway(leeway);
        self
    }

    /// Replaces the keys, after the issuer has rotated its own.
    #[must_use]
    pub fn with_keys(mut self, keys: KeySet) -> Self {
        self.keys = keys;
        self
    }

    /// Finds out who sends a request, [RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1).
    ///
    /// # Errors
    ///
    /// The challenge to answer with: no token, more than one, one in the query, or one that is not valid here
    /// and now.
    ///
    /// # Security
    ///
    /// A JWT is valid until it expires, whatever was revoked meanwhile; give it minutes, or ask the issuer by
    /// introspection where that is too long.
    pub fn authenticate(&self, request: &Parts, now: SystemTime) -> Result<Principal, Challenge> {
        let token = bearer::token(&request.headers, &request.uri)
            .map_err(|reason| Challenge::new(&self.audience, reason))?;
        let claims = AccessTokenClaims::verify(token, &self.keys, &self.policy, now)
            .map_err(|error| Challenge::new(&self.audience, ChallengeReason::InvalidToken(error)))?;
        Ok(Principal::new(claims, self.audience.clone()))
    }
}
