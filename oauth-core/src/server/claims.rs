//! Claims about the user that a client may read.

use serde::Serialize;

use super::AuthorizationServer;
use crate::store::Grant;
use crate::vocabulary::Scopes;

/// Claims about the user that a client may read, [OpenID Connect Core
/// §5.4](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims).
#[derive(Serialize)]
pub(super) struct ReadableClaims<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) email: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
}

impl AuthorizationServer {
    /// Returns the claims of `grant` that a client may read with a token for `scopes`.
    pub(super) fn readable_claims<'a>(&self, grant: &'a Grant, scopes: &Scopes) -> ReadableClaims<'a> {
        let may_know = |scope| !self.inner.claims_by_scope || scopes.contains_str(scope);
        ReadableClaims {
            email: grant.email.as_deref().filter(|_| may_know("email")),
            name: grant.name.as_deref().filter(|_| may_know("profile")),
        }
    }
}
