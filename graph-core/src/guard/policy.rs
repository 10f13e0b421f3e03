//! What becomes of what a guard refuses, and who is told.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use super::demand::{Guard, Policies};
use super::{Principal, RequestContext};
use crate::error::{ErrorCode, GraphError};
use crate::response::{GraphResponse, ResponseError};

/// What becomes of an operation that selects what its principal may not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three answers to a refusal")]
pub enum GuardMode {
    /// It runs without it: what is refused is null with its code, or bubbles.
    #[default]
    Filter,
    /// It is refused as a whole, before anything of it runs, with an error for every field.
    ///
    /// Where an object must be there first the guard filters: a function that asks it, and a type that is one of several behind an
    /// interface or a union.
    Reject,
    /// It runs with it, and the [`GuardLog`] is told: what would a new guard refuse?
    ///
    /// # Security
    ///
    /// No guard of a field or a type holds; what a resolver asks by itself still does. The whole schema can be read.
    DryRun,
}

/// Something that a guard refused, or would have.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Refused<'r> {
    /// The field, as `Type.field`, or the type whose objects are guarded.
    pub coordinate: &'r str,
    /// `UNAUTHENTICATED` or `FORBIDDEN`.
    pub code: ErrorCode,
    /// What became of it.
    pub mode: GuardMode,
    /// The operation of its document, if the request named it.
    pub operation_name: Option<&'r str>,
    /// Who asked.
    pub principal: Option<&'r Principal>,
}

/// Receives what guards refuse. Any `Fn(&Refused)` is one.
///
/// It is told once for every selected field before the operation runs, whether or not there is an object to ask for it; and of a
/// guard that asks the object once for every object.
///
/// # What an implementation must guarantee
///
/// It returns quickly: the operation waits for it.
pub trait GuardLog: Send + Sync {
    /// Takes note of `refused`.
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

/// How the guards of one operation are asked.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    pub(crate) mode: GuardMode,
    pub(crate) log: Option<Arc<dyn GuardLog>>,
    pub(crate) operation_name: Option<Arc<str>>,
    /// juniper executes the operation.
    pub(crate) by_juniper: bool,
}

impl Watch {
    /// Tells the log that `principal` is refused what is at `coordinate`.
    pub(crate) fn tell(&self, coordinate: &str, code: ErrorCode, principal: Option<&Principal>) {
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

    /// Why what is behind each of `policies` must not run, by its place there; nothing when all may.
    ///
    /// # Errors
    ///
    /// The operation must not run at all.
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
            self.tell(&guarded.coordinate(), refused.code(), context.principal());
            let foreseen = self.mode == GuardMode::Reject && guarded.field.is_some();
            // what juniper would run although a type refuses it stops the operation too
            if foreseen || self.by_juniper && guarded.by_type {
                errors.push(ResponseError::new(refused.code(), refused.message()).at(guarded.location));
            }
        }
        match self.mode {
            GuardMode::DryRun => Ok(Vec::new()),
            GuardMode::Filter | GuardMode::Reject if errors.is_empty() => Ok(denied),
            GuardMode::Filter | GuardMode::Reject => Err(GraphResponse::request_errors(errors)),
        }
    }

    /// The same for an operation that juniper executes, unless `policies` refuse it.
    ///
    /// # Errors
    ///
    /// Beside what [`judge`](Self::judge) refuses, whatever the guards of a type refuse: juniper asks those of methods only.
    pub(crate) fn with_juniper<H>(
        mut self,
        policies: &Policies,
        context: &RequestContext<H>,
    ) -> Result<Self, GraphResponse> {
        self.by_juniper = true;
        self.judge(policies, context)?;
        Ok(self)
    }

    /// What an object said of its field `parent.field`.
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
            Ok(_) => GraphError::forbidden("this is not for the principal"),
            Err(unauthenticated) => unauthenticated,
        };
        let coordinate = format!("{parent}.{field}");
        self.tell(&coordinate, refused.code(), context.principal());
        if self.mode == GuardMode::DryRun {
            return Ok(());
        }
        Err(refused)
    }
}

thread_local! {
    /// How the guards of the operation are asked that juniper executes on this thread right now: it calls the host's methods
    /// with the context only.
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// Asks the guards of what juniper executes in `future` as `watch` says.
pub(crate) async fn watched<T>(watch: Watch, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|task| {
        let _around = Around::enter(&watch);
        future.as_mut().poll(task)
    })
    .await
}

/// What was there before; put back when the poll ends, by a panic too.
struct Around(Watch);

impl Around {
    fn enter(watch: &Watch) -> Self {
        Self(WATCH.replace(watch.clone()))
    }
}

impl Drop for Around {
    fn drop(&mut self) {
        WATCH.set(std::mem::take(&mut self.0));
    }
}

/// How guards are asked in juniper's hands: as ever where nobody said anything.
pub(crate) fn watch() -> Watch {
    WATCH.with_borrow(Clone::clone)
}
