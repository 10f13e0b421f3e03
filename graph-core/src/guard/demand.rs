//! Guards that the engine checks before an operation runs, and the fields and types that they
//! protect.

use std::borrow::Cow;

use super::RequestContext;
use crate::error::GraphError;
use crate::response::Location;

/// Condition on the principal, checked before an operation runs.
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
    /// Error for the principal of `context`; `None` if the guard allows it.
    pub(crate) fn refusal<H>(self, context: &RequestContext<H>) -> Option<GraphError> {
        let allowed = match self {
            Self::Principal => context.require_principal(),
            Self::Scope(scope) => context.require_scope(scope),
            Self::Role(role) => context.require_role(role),
        };
        allowed.err()
    }
}

/// Guards of all fields and types that an operation selects.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    /// Distinct lists of guards; a field of the plan refers to its list by index. All guards of a
    /// list must allow.
    pub(crate) distinct: Box<[Box<[Guard]>]>,
    /// Guarded fields and types of the operation.
    pub(crate) guarded: Box<[Guarded]>,
}

/// Guarded field or type that an operation selects.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// Index into [`Policies::distinct`].
    pub(crate) policy: u16,
    pub(crate) location: Location,
    pub(crate) parent: &'static str,
    /// `None`: the entry is the type `parent`, a member of an interface or union.
    pub(crate) field: Option<&'static str>,
}

impl Guarded {
    pub(super) fn coordinate(&self) -> Cow<'static, str> {
        match self.field {
            Some(field) => format!("{}.{field}", self.parent).into(),
            None => self.parent.into(),
        }
    }
}
