//! Authorization in resolvers: the request context, the principal, and guards on fields and types.
//!
//! The host authenticates the request, creates a [`Principal`] from the credentials, and stores it
//! in the [`RequestContext`], the juniper context of all types. Resolvers read it from there.
//!
//! # Guards
//!
//! Guards are attributes on fields and types; see [`macro@graph_object`](crate::graph_object).
//!
//! - The engine checks a guard on the principal (`authenticated`, `scope`, `role`) once for each
//!   operation, before the first resolver runs.
//! - The engine calls a guard function (`guard = ..`) for each object, before the resolver.
//!
//! [`with_guards`](crate::engine::EngineBuilder::with_guards) sets the effect of a refusal:
//!
//! | mode | refused field | rest of the operation | introspection shows |
//! |---|---|---|---|
//! | [`GuardMode::Filter`] | is null with an error code, never runs | runs | allowed fields |
//! | [`GuardMode::Reject`] | has one error | does not run: no `data` | allowed fields |
//! | [`GuardMode::DryRun`] | runs, and is reported to the [`GuardLog`] | runs | the whole schema |
//!
//! Except in [`GuardMode::DryRun`], introspection applies the same guards:
//!
//! - It hides every field that the principal may not select, every type that is reachable only
//!   through such fields, every type without a visible field, and the fields of that type.
//! - An interface hides a field that one of its object types hides. The visible schema stays valid.
//! - A guard function hides nothing, because introspection has no object to pass to it.
//!
//! # Security
//!
//! Names of hidden fields are not secret. A client that guesses the name of a hidden field receives
//! `FORBIDDEN`; an unknown name is a validation error. No message names the types behind a hidden
//! field.
//!
//! # Example
//!
//! ```
//! use graph_core::error::ErrorCode;
//! use graph_core::guard::{Principal, RequestContext};
//!
//! let anonymous = RequestContext::new("the host's own value");
//! let denied = anonymous.require_scope("write:refunds").unwrap_err();
//! assert_eq!(denied.code(), ErrorCode::Unauthenticated);
//!
//! let ada = Principal::new("ada").with_scopes("read:charges".parse()?);
//! let reader = anonymous.with_principal(ada);
//! assert_eq!(reader.require_scope("read:charges").unwrap().subject(), "ada");
//! assert_eq!(reader.require_scope("write:refunds").unwrap_err().code(), ErrorCode::Forbidden);
//! # Ok::<(), graph_core::guard::InvalidScope>(())
//! ```

pub(crate) mod demand;
mod policy;

use crate::error::GraphError;
use crate::loader::{Batch, Loaders, SelectiveBatch};
use crate::look_ahead::FieldSet;

pub use host_ports::{InvalidScope, Principal, Scope, Scopes};

pub(crate) use self::policy::Watch;
pub use self::policy::{GuardLog, GuardMode, Refused};

/// Context of one request: the principal, the host's own value, and the loaders.
///
/// # Security
///
/// A context without [`with_principal`](Self::with_principal) is anonymous. Anonymous requests have
/// no permissions by default.
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
    /// Creates the context of an anonymous request.
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

    /// Sets the principal of the request.
    #[must_use]
    pub fn with_principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Sets the correlation id of masked errors, for example the request id. Default: a random id.
    #[must_use]
    pub fn with_correlation_id(mut self, correlation_id: impl Into<String>) -> Self {
        self.correlation_id = Some(correlation_id.into());
        self
    }

    /// Allows introspection for this request even if the engine disables it.
    ///
    /// Guards still hide fields and types.
    #[must_use]
    pub fn with_introspection(mut self) -> Self {
        self.introspection = Some(true);
        self
    }

    /// Disables introspection for this request even if the engine allows it.
    ///
    /// An operation with `__schema` or `__type` is refused with `INTROSPECTION_DISABLED`.
    #[must_use]
    pub fn without_introspection(mut self) -> Self {
        self.introspection = Some(false);
        self
    }

    pub(crate) fn introspection(&self) -> Option<bool> {
        self.introspection
    }

    /// Adds a [`loader`](crate::loader). It replaces an earlier loader of the same type.
    ///
    /// Clones of the context share the loader and its cache, so create a new context for each
    /// request.
    #[must_use]
    pub fn with_loader(mut self, batch: impl Batch) -> Self {
        self.loaders.add(batch);
        self
    }

    /// Loads the value of `key` in a batch with other keys; `None` if the key has no value.
    ///
    /// The future completes only while the engine executes an operation with this context.
    ///
    /// # Errors
    ///
    /// The error of the batch, or `INTERNAL_SERVER_ERROR` if the context has no such loader.
    pub async fn load<B: Batch>(&self, key: B::Key) -> Result<Option<B::Value>, GraphError> {
        self.loaders.load::<B>(key).await
    }

    /// Adds a loader that loads only the fields that its resolvers need. It replaces an earlier
    /// loader of the same type.
    ///
    /// The context shares it like a loader of [`with_loader`](Self::with_loader).
    #[must_use]
    pub fn with_selective_loader(mut self, batch: impl SelectiveBatch) -> Self {
        self.loaders.add_selective(batch);
        self
    }

    /// Loads the value of `key`, with at least `fields`, in a batch with other keys; `None` if the
    /// key has no value.
    ///
    /// The future completes only while the engine executes an operation with this context.
    ///
    /// # Errors
    ///
    /// The error of the batch, or `INTERNAL_SERVER_ERROR` if the context has no such loader.
    pub async fn load_fields<B: SelectiveBatch>(
        &self,
        key: B::Key,
        fields: FieldSet<B::Object>,
    ) -> Result<Option<B::Value>, GraphError> {
        self.loaders.load_fields::<B>(key, fields).await
    }

    pub(crate) fn loaders(&self) -> &Loaders {
        &self.loaders
    }

    /// Returns the host's own value.
    #[must_use]
    pub fn host(&self) -> &H {
        &self.host
    }

    /// Returns the principal of the request; `None` if it is anonymous.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    pub(crate) fn correlation_id(&self) -> Option<&str> {
        self.correlation_id.as_deref()
    }

    /// Returns the principal.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED` without a principal.
    pub fn require_principal(&self) -> Result<&Principal, GraphError> {
        self.principal
            .as_ref()
            .ok_or_else(|| GraphError::unauthenticated("authentication required"))
    }

    /// Returns the principal if it has `scope`.
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

    /// Returns the principal if it has `role`.
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
