use std::collections::BTreeSet;

use crate::Scopes;

/// The authenticated caller of a request: subject, scopes and roles.
///
/// The host creates it after authentication and passes it to the resolvers and handlers of the
/// request. It is not a proof of authentication, because any code can create one. In oauth-core the
/// proof is `AuthenticatedToken`, which converts to a `Principal`.
///
/// ```
/// use host_ports::Principal;
///
/// let ada = Principal::new("ada").with_scopes("read:charges write:charges".parse()?);
/// assert!(ada.has_scope("read:charges") && !ada.has_scope("read"));
/// # Ok::<(), host_ports::InvalidScope>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Principal {
    subject: String,
    scopes: Scopes,
    roles: BTreeSet<String>,
}

impl Principal {
    /// Creates a principal without scopes and roles. `subject` is the `sub` of a token.
    #[must_use]
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            scopes: Scopes::default(),
            roles: BTreeSet::new(),
        }
    }

    /// Replaces the scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Adds roles.
    #[must_use]
    pub fn with_roles<R: Into<String>>(mut self, roles: impl IntoIterator<Item = R>) -> Self {
        self.roles.extend(roles.into_iter().map(Into::into));
        self
    }

    /// Subject, the `sub` of a token.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Granted scopes.
    #[must_use]
    pub const fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Roles in byte order.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }

    /// Returns `true` if the principal has the scope written `token`, compared byte for byte.
    #[must_use]
    pub fn has_scope(&self, token: &str) -> bool {
        self.scopes.contains_str(token)
    }

    /// Returns `true` if the principal has `role`, compared byte for byte.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.contains(role)
    }
}
