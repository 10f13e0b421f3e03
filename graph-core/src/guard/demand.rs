//! Guards that are known before an operation runs, and where an operation meets them.

use std::borrow::Cow;

use super::RequestContext;
use crate::error::GraphError;
use crate::response::Location;

/// Condition on the principal that is checked before an operation runs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "generated code writes it down")]
pub enum Guard {
    /// Any principal: `#[graph(authenticated)]`.
    Principal,
    /// A principal with the scope: `#[graph(scope = "..")]`.
    Scope(&'static str),
    /// A principal with the role: `#[graph(role = "..")]`.
    Role(&'static str),
}

impl Guard {
    /// Why the principal of `context` may not select what is behind the guard.
    pub(crate) fn refusal<H>(self, context: &RequestContext<H>) -> Option<GraphError> {
        let allowed = match self {
            Self::Principal => context.require_principal(),
            Self::Scope(scope) => context.require_scope(scope),
            Self::Role(role) => context.require_role(role),
        };
        allowed.err()
    }
}

/// Guards of everything that an operation selects.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    /// Lists of guards that all must let pass, by the number that a field of the plan bears.
    pub(crate) distinct: Box<[Box<[Guard]>]>,
    /// The guarded fields and types.
    pub(crate) guarded: Box<[Guarded]>,
}

/// Guarded field or type that an operation selects.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// In [`Policies::distinct`].
    pub(crate) policy: u16,
    pub(crate) location: Location,
    pub(crate) parent: &'static str,
    /// `None`: it is the type `parent`, as one of several that a field can return.
    pub(crate) field: Option<&'static str>,
    /// A type asks for some of it: juniper, which asks what stands at the method only, does not.
    pub(crate) by_type: bool,
}

impl Guarded {
    pub(super) fn coordinate(&self) -> Cow<'static, str> {
        match self.field {
            Some(field) => format!("{}.{field}", self.parent).into(),
            None => self.parent.into(),
        }
    }
}
