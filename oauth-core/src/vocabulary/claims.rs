//! Claims of the host.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Names that the server sets itself, or that change the meaning of a token or response.
const RESERVED: [&str; 30] = [
    "act",
    "active",
    "alg",
    "at_hash",
    "aud",
    "auth_time",
    "azp",
    "c_hash",
    "cid",
    "client_id",
    "cnf",
    "email",
    "events",
    "exp",
    "iat",
    "iss",
    "jti",
    "may_act",
    "name",
    "nbf",
    "nonce",
    "s_hash",
    "scope",
    "scp",
    "sub",
    "sub_id",
    "token_type",
    "token_use",
    "typ",
    "username",
];

/// Error for a claim that the host must not set, because the server sets it or it changes the
/// meaning of a token.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot set claim `{0}`: the name is reserved for the server")]
pub struct ReservedClaim(String);

/// Claims beyond those that the server sets, for example roles, for tokens and responses.
///
/// The host must keep them small: a token of more than 16 KiB is refused.
///
/// ```
/// use oauth_core::vocabulary::Claims;
///
/// let claims = Claims::new()
///     .with_roles(["support", "refunds"])
///     .with_acr("urn:example:two-factors")
///     .with("department", "payments")?;
/// assert_eq!(claims.get_str("department"), Some("payments"));
/// assert!(Claims::new().with("sub", "eve").is_err());
/// # Ok::<(), oauth_core::vocabulary::ReservedClaim>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Claims(Map<String, Value>);

impl Claims {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a claim. `null` removes it.
    ///
    /// # Errors
    ///
    /// [`ReservedClaim`] for a name that the server sets itself, such as `sub`, `aud`, `email` or
    /// `scope`, or that changes the meaning of a token, such as `cnf` or `act`. `sid` is not
    /// reserved: in ID tokens of a grant with a session, the server replaces it.
    pub fn with(self, name: &str, value: impl Into<Value>) -> Result<Self, ReservedClaim> {
        if RESERVED.contains(&name) {
            return Err(ReservedClaim(name.to_owned()));
        }
        Ok(self.set(name, value))
    }

    /// Sets `acr`, the level of the user's authentication ([OpenID Connect Core
    /// §2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken)).
    #[must_use]
    pub fn with_acr(self, acr: &str) -> Self {
        self.set("acr", acr)
    }

    /// Sets `amr`, the methods of the user's authentication, for example `pwd` and `otp` ([RFC
    /// 8176](https://www.rfc-editor.org/rfc/rfc8176)).
    #[must_use]
    pub fn with_amr<M: Into<Value>>(self, methods: impl IntoIterator<Item = M>) -> Self {
        self.set("amr", methods.into_iter().map(Into::into).collect::<Value>())
    }

    /// Sets `email_verified`.
    #[must_use]
    pub fn with_email_verified(self, is_verified: bool) -> Self {
        self.set("email_verified", is_verified)
    }

    /// Sets `roles` ([RFC 9068 §2.2.3.1](https://www.rfc-editor.org/rfc/rfc9068#section-2.2.3.1)).
    #[must_use]
    pub fn with_roles<R: Into<Value>>(self, roles: impl IntoIterator<Item = R>) -> Self {
        self.set("roles", roles.into_iter().map(Into::into).collect::<Value>())
    }

    /// Sets `groups` ([RFC 9068 §2.2.3.1](https://www.rfc-editor.org/rfc/rfc9068#section-2.2.3.1)).
    #[must_use]
    pub fn with_groups<G: Into<Value>>(self, groups: impl IntoIterator<Item = G>) -> Self {
        self.set("groups", groups.into_iter().map(Into::into).collect::<Value>())
    }

    /// Sets `tenant`, the organization of the user.
    #[must_use]
    pub fn with_tenant(self, tenant: &str) -> Self {
        self.set("tenant", tenant)
    }

    /// Returns a claim.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns a claim whose value is a string.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Returns `true` if there is no claim.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        match value.into() {
            Value::Null => self.0.remove(name),
            value => self.0.insert(name.to_owned(), value),
        };
        self
    }

    /// Sets `sid`, the identifier of the user's session.
    #[cfg(feature = "_signatures")]
    pub(crate) fn with_session(self, sid: &str) -> Self {
        self.set("sid", sid)
    }

    /// Adds `other`, whose values replace those of this set.
    #[cfg(feature = "_signatures")]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the set without a claim.
    #[cfg(feature = "_signatures")]
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// Returns the claims without those with a reserved name, which a deserialized set may have.
    #[cfg(feature = "_signatures")]
    pub(crate) fn without_reserved(mut self) -> Self {
        self.0.retain(|name, _| !RESERVED.contains(&name.as_str()));
        self
    }

    /// Returns only those of `names`.
    #[cfg(feature = "_signatures")]
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let kept = self.0.iter().filter(|(name, _)| names.contains(&name.as_str()));
        Self(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O29: reserved names are refused. Names are compared byte for byte.
    #[test]
    fn reserved_names_are_refused() {
        for name in RESERVED {
            let refused = Claims::new().with(name, "eve");
            assert_eq!(refused, Err(ReservedClaim(name.to_owned())));
        }
        assert!(Claims::new().with("Sub", "another claim").is_ok());
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn null_removes_a_claim() {
        let claims = Claims::new()
            .with_tenant("a")
            .with("tenant", Value::Null)
            .unwrap();
        assert!(claims.is_empty());
    }
}
