//! Who asks, and whether they may: the context of every resolver.
//!
//! The host authenticates the request, makes a [`Principal`] of the token, and puts it into the [`RequestContext`], which is
//! the juniper context of all its types. A resolver can ask it before it does anything.
//!
//! # Policies
//!
//! A field says by its attribute who may select it, and a type who may have its objects: [`macro@graph_object`](crate::graph_object)
//! has the words. The engine asks once for each operation, before anything runs, and
//! [`with_guards`](crate::engine::EngineBuilder::with_guards) says what becomes of a refusal:
//!
//! | mode | what is refused | the rest | `__schema` and `__type` show |
//! |---|---|---|---|
//! | [`GuardMode::Filter`] | is null with its code at its path, or bubbles; it never runs | runs | what the principal may select |
//! | [`GuardMode::Reject`] | is told in an error each | does not run: there is no `data` | what the principal may select |
//! | [`GuardMode::DryRun`] | runs, and a [`GuardLog`] is told | runs | everything |
//!
//! Introspection follows the same policies: a field that the principal may not select is not there, nor are types that only such
//! fields lead to, and what is left is a valid schema: a type without fields is gone with the fields of its type, and an interface
//! does not have what one of its objects does not show. A guard that asks the object hides nothing, for there is none to ask.
//! The names of what is hidden are still no secret to those who guess them: a hidden field is refused with `FORBIDDEN`, where one that does
//! not exist is a mistake of the document. Which types are behind it no message says.
//!
//! ```
//! use graph_core::error::ErrorCode;
//! use graph_core::guard::{Principal, RequestContext};
//!
//! let anonymous = RequestContext::new("the host's own value");
//! let denied = anonymous.require_scope("write:refunds").unwrap_err();
//! assert_eq!(denied.code(), ErrorCode::Unauthenticated);
//!
//! let reader = anonymous.with_principal(Principal::new("ada").with_scopes("read:charges".parse()?));
//! assert_eq!(reader.require_scope("read:charges").unwrap().subject(), "ada");
//! assert_eq!(reader.require_scope("write:refunds").unwrap_err().code(), ErrorCode::Forbidden);
//! # Ok::<(), graph_core::guard::InvalidScope>(())
//! ```

pub(crate) mod demand;
mod policy;

use crate::error::GraphError;
use crate::loader::{Batch, Loaders};

pub use host_ports::{InvalidScope, Principal, Scope, Scopes};

pub use self::policy::{GuardLog, GuardMode, Refused};
pub(crate) use self::policy::{Watch, watch, watched};

/// What every resolver of one request shares: the principal and the host's own value.
///
/// # Security
///
/// Without [`with_principal`](Self::with_principal) the request is anonymous; no default grants anything.
#[derive(Clone, Debug)]
pub struct RequestContext<H> {
    host: H,
    principal: Option<Principal>,
    correlation_id: Option<String>,
    loaders: Loaders,
    introspection: Option<bool>,
}

impl<H> juniper::Context for RequestContext<H> {}

impl<H> RequestContext<H> {
    /// An anonymous request.
    #[must_use]
    pub fn new(host: H) -> Self {
        Self {
            host,
            principal: None,
            correlation_id: None,
            loaders: Loaders::default(),
            introspection: None,
        }
    }

    /// The request acts for `principal`.
    #[must_use]
    pub fn with_principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Masked errors carry `correlation_id`, such as the request's id, instead of a random one.
    #[must_use]
    pub fn with_correlation_id(mut self, correlation_id: impl Into<String>) -> Self {
        self.correlation_id = Some(correlation_id.into());
        self
    }

    /// The request may read the schema, though the engine says otherwise: it acts for somebody who may. Guards hide of it what they hide.
    #[must_use]
    pub fn with_introspection(mut self) -> Self {
        self.introspection = Some(true);
        self
    }

    /// The request may not read the schema, though the engine says otherwise: `INTROSPECTION_DISABLED`.
    #[must_use]
    pub fn without_introspection(mut self) -> Self {
        self.introspection = Some(false);
        self
    }

    pub(crate) fn introspection(&self) -> Option<bool> {
        self.introspection
    }

    /// Loads what `batch` loads for one operation; see [`loader`](crate::loader). A clone of the context shares it.
    #[must_use]
    pub fn with_loader(mut self, batch: impl Batch) -> Self {
        self.loaders.add(batch);
        self
    }

    /// The value of `key`, loaded together with all that is asked for meanwhile; `None` when there is none.
    ///
    /// It completes only within an operation of the engine.
    ///
    /// # Errors
    ///
    /// What the batch failed with, and `INTERNAL_SERVER_ERROR` when the context has no such loader.
    pub async fn load<B: Batch>(&self, key: B::Key) -> Result<Option<B::Value>, GraphError> {
        self.loaders.load::<B>(key).await
    }

    pub(crate) fn loaders(&self) -> &Loaders {
        &self.loaders
    }

    /// The host's own value.
    #[must_use]
    pub fn host(&self) -> &H {
        &self.host
    }

    /// Who the request acts for; `None` is anonymous.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    pub(crate) fn correlation_id(&self) -> Option<&str> {
        self.correlation_id.as_deref()
    }

    /// The principal, whoever it is.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED` without a principal.
    pub fn require_principal(&self) -> Result<&Principal, GraphError> {
        self.principal
            .as_ref()
            .ok_or_else(|| GraphError::unauthenticated("authentication required"))
    }

    /// The principal, if its token carries `scope`.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED` without a principal, `FORBIDDEN` without the scope.
    pub fn require_scope(&self, scope: &str) -> Result<&Principal, GraphError> {
        self.require(
            |principal| principal.has_scope(scope),
            || format!("scope `{scope}` required"),
        )
    }

    /// The principal, if it has `role`.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED` without a principal, `FORBIDDEN` without the role.
    pub fn require_role(&self, role: &str) -> Result<&Principal, GraphError> {
        self.require(
            |principal| principal.has_role(role),
            || format!("role `{role}` required"),
        )
    }

    fn require(
        &self,
        allows: impl FnOnce(&Principal) -> bool,
        why: impl FnOnce() -> String,
    ) -> Result<&Principal, GraphError> {
        let principal = self.require_principal()?;
        if allows(principal) {
            Ok(principal)
        } else {
            Err(GraphError::forbidden(why()))
        }
    }
}
