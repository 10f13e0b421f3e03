//! Decisions about the fields of an execution before the first resolver runs.

use std::any::Any;

use super::plan::{ArgRef, Field};
use super::table::Arguments;
use crate::error::GraphError;

/// Coerced arguments, and refusals by guards on the principal.
#[derive(Default)]
pub(crate) struct Decisions {
    /// Indexed by [`ArgRef::Slot`].
    pub(crate) arguments: Vec<Result<Arguments, GraphError>>,
    /// Refusals indexed by [`Field::policy`]; empty if all guards allow.
    pub(crate) denied: Vec<Option<GraphError>>,
}

impl Decisions {
    /// Returns the coerced arguments of `field`, `()` for a field without arguments; `None` if they
    /// are invalid.
    pub(crate) fn arguments<'s>(&'s self, field: &'s Field) -> Option<&'s (dyn Any + Send + Sync)> {
        match &field.args {
            ArgRef::None => Some(&()),
            ArgRef::Const(arguments) => Some(&**arguments),
            ArgRef::Slot(at) => self.slot(*at)?.as_ref().ok().map(|arguments| &**arguments),
            ArgRef::Refused(_) => None,
        }
    }

    /// Returns `true` if a guard on the principal refuses the fields with this policy.
    pub(crate) fn denies(&self, policy: Option<u16>) -> bool {
        self.denial(policy).is_some()
    }

    /// Returns `true` if the resolver of `field` will not run.
    pub(crate) fn refuses(&self, field: &Field) -> bool {
        field.checked && (self.denies(field.policy) || self.arguments(field).is_none())
    }

    /// Refusal of `field` by a guard or by its arguments.
    pub(crate) fn refusal(&self, field: &Field) -> Option<GraphError> {
        if let Some(denied) = self.denial(field.policy) {
            return Some(denied.clone());
        }
        match &field.args {
            ArgRef::Refused(why) => Some(GraphError::bad_user_input(&**why)),
            ArgRef::Slot(at) => self.slot(*at)?.as_ref().err().cloned(),
            ArgRef::None | ArgRef::Const(_) => None,
        }
    }

    fn denial(&self, policy: Option<u16>) -> Option<&GraphError> {
        self.denied.get(usize::from(policy?))?.as_ref()
    }

    fn slot(&self, at: u32) -> Option<&Result<Arguments, GraphError>> {
        self.arguments.get(usize::try_from(at).ok()?)
    }
}
