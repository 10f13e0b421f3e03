//! Effects of a refusal by a guard, and the guard log.

use std::sync::Arc;

use super::demand::{Guard, Policies};
use super::{Principal, RequestContext};
use crate::error::{ErrorCode, GraphError};
use crate::response::{GraphResponse, MISTAKES, ResponseError};

/// Effect of a refusal by a guard.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three answers to a refusal")]
pub enum GuardMode {
    /// The operation runs without the refused fields. Each is null with its error code; the error
    /// of a non-null field propagates to its nearest nullable parent.
    #[default]
    Filter,
    /// The operation is refused before it runs, with one error for each refused field, up to 100.
    ///
    /// Two kinds of guards need an object, and act as in [`Filter`](Self::Filter): guard functions,
    /// and the guards of a type that is a member of an interface or a union.
    Reject,
    /// The operation runs in full, and refusals are only reported to the [`GuardLog`]. For testing
    /// new guards.
    ///
    /// # Security
    ///
    /// No guard is enforced. Checks inside resolvers, such as
    /// [`require_scope`](RequestContext::require_scope), still apply. Introspection shows the whole
    /// schema.
    DryRun,
}

/// Refusal by a guard, as reported to a [`GuardLog`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Refused<'r> {
    /// Field as `Type.field`, or the name of the guarded type.
    pub coordinate: &'r str,
    /// `UNAUTHENTICATED` or `FORBIDDEN`.
    pub code: ErrorCode,
    /// Mode of the engine. In [`GuardMode::DryRun`] the refusal was not enforced.
    pub mode: GuardMode,
    /// Operation name of the request, if any.
    pub operation_name: Option<&'r str>,
    /// Principal of the request; `None` if it is anonymous.
    pub principal: Option<&'r Principal>,
}

/// Receives refusals by guards. Implemented for every `Fn(&Refused)`.
///
/// - The engine reports a guard on the principal once for each selected field, before the operation
///   runs, even if execution never reaches the field.
/// - It reports a guard function once for each object.
///
/// # Contract
///
/// The method returns quickly, because the operation waits for it.
pub trait GuardLog: Send + Sync {
    /// Records a refusal.
    fn record(&self, refused: &Refused<'_>);
}

impl<F> GuardLog for F
where
    F: Fn(&Refused<'_>) + Send + Sync,
{
    fn record(&self, refused: &Refused<'_>) {
        self(refused);
    }
}

/// Guard settings of one operation.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    pub(crate) mode: GuardMode,
    pub(crate) log: Option<Arc<dyn GuardLog>>,
    pub(crate) operation_name: Option<Arc<str>>,
}

impl Watch {
    /// Reports to the log that `principal` was refused at `coordinate`.
    pub(crate) fn report(&self, coordinate: &str, code: ErrorCode, principal: Option<&Principal>) {
        if let Some(log) = &self.log {
            log.record(&Refused {
                coordinate,
                code,
                mode: self.mode,
                operation_name: self.operation_name.as_deref(),
                principal,
            });
        }
    }

    /// Refusal of each policy by its index; empty if all guards allow.
    ///
    /// # Errors
    ///
    /// The response, if the operation must not run at all.
    pub(crate) fn judge<H>(
        &self,
        policies: &Policies,
        context: &RequestContext<H>,
    ) -> Result<Vec<Option<GraphError>>, GraphResponse> {
        let refusal = |guards: &[Guard]| guards.iter().find_map(|guard| guard.refusal(context));
        let denied: Vec<_> = policies.distinct.iter().map(|guards| refusal(guards)).collect();
        if denied.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let refused = policies.guarded.iter().filter_map(|guarded| {
            let refused = denied.get(usize::from(guarded.policy))?.as_ref()?;
            Some((guarded, refused))
        });
        let mut errors = Vec::new();
        for (guarded, refused) in refused {
            self.report(&guarded.coordinate(), refused.code(), context.principal());
            if self.mode == GuardMode::Reject && guarded.field.is_some() && errors.len() < MISTAKES {
                let error = ResponseError::new(refused.code(), refused.message()).at(guarded.location);
                // a field of an interface has an entry for each object type
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
        }
        match self.mode {
            GuardMode::DryRun => Ok(Vec::new()),
            GuardMode::Filter | GuardMode::Reject if errors.is_empty() => Ok(denied),
            GuardMode::Filter | GuardMode::Reject => Err(GraphResponse::request_errors(errors)),
        }
    }

    /// Result of a guard function on the object of `parent.field`.
    pub(crate) fn allowed<H>(
        &self,
        context: &RequestContext<H>,
        parent: &str,
        field: &str,
        allowed: bool,
    ) -> Result<(), GraphError> {
        if allowed {
            return Ok(());
        }
        let refused = match context.require_principal() {
            Ok(_) => GraphError::forbidden("the principal may not select this field"),
            Err(unauthenticated) => unauthenticated,
        };
        let coordinate = format!("{parent}.{field}");
        self.report(&coordinate, refused.code(), context.principal());
        if self.mode == GuardMode::DryRun {
            return Ok(());
        }
        Err(refused)
    }
}
