//! State shared by all fields of one execution.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use juniper::{FieldError, IntoFieldError};

use super::decisions::Decisions;
use super::deferred::{Deferral, Deliveries};
use super::gate::{Gate, Permit};
use super::meter::Meter;
use super::plan::{Field, Plan};
use super::{ListIndices, Nothing, NullPropagation, Path, WriteResult};
use crate::error::{ErrorCode, GraphError};
use crate::guard::{RequestContext, Watch};
use crate::look_ahead::LookAhead;
use crate::observe::Observer;

/// State of one execution of a plan.
///
/// The type must stay covariant in `'x`, because each future borrows it for the lifetime of its
/// value.
pub struct Execution<'x, C> {
    context: &'x C,
    plan: &'x Plan,
    pub(crate) decisions: Decisions,
    /// Guard settings for guard functions.
    watch: Watch,
    /// Errors so far; locked only on failure.
    failures: Mutex<Vec<FieldFailure>>,
    expired: AtomicBool,
    gate: Option<Gate>,
    pub(crate) meter: Meter,
    pub(crate) deliveries: Deliveries,
    /// Observer of the resolvers, if the host opted in.
    pub(crate) observer: Option<Box<Observer>>,
}

/// Approximate bytes of an error without its message and path.
const FAILURE: usize = 96;

/// Failed field.
#[derive(Debug)]
pub(crate) struct FieldFailure {
    /// Index into [`Plan::metas`].
    pub(crate) meta: u32,
    pub(crate) indices: ListIndices,
    pub(crate) error: FieldError,
}

impl<C> std::fmt::Debug for Execution<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution")
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}

impl<'x, C> Execution<'x, C> {
    #[inline]
    pub(crate) fn new(
        context: &'x C,
        plan: &'x Plan,
        gate: Option<Gate>,
        watch: Watch,
        meter: Meter,
    ) -> Self {
        Self {
            context,
            plan,
            decisions: Decisions::default(),
            watch,
            failures: Mutex::new(Vec::new()),
            expired: AtomicBool::new(false),
            gate,
            meter,
            deliveries: Deliveries::default(),
            observer: None,
        }
    }

    /// Returns the host's context.
    #[inline]
    #[must_use]
    pub fn context(&self) -> &'x C {
        self.context
    }

    #[inline]
    pub(crate) fn plan(&self) -> &'x Plan {
        self.plan
    }

    /// Returns the coerced arguments of `field` as a tuple of their types.
    ///
    /// # Errors
    ///
    /// If `T` is not the tuple type in the table of the field. The mismatch is recorded as an
    /// internal error.
    pub fn args<'s, T: Any>(&'s self, field: &'s Field) -> Result<&'s T, NullPropagation> {
        self.decisions
            .arguments(field)
            .and_then(|arguments| arguments.downcast_ref())
            .ok_or_else(|| self.record_mismatch(field))
    }

    /// Returns the selection below `field`, whose innermost type is `T`.
    #[must_use]
    pub fn look_ahead<'s, T: ?Sized>(&'s self, field: &'s Field, _: Nothing<T>) -> LookAhead<'s, T> {
        LookAhead::new(field, &self.decisions)
    }

    /// Waits for a free slot under the concurrency limit. The permit frees the slot on drop.
    /// Returns `None` at once if no limit is set, which is the default.
    #[inline]
    pub async fn enter(&self) -> Option<Permit<'_>> {
        match &self.gate {
            None => None,
            Some(gate) => Some(gate.enter().await),
        }
    }

    /// Records the failure of `field`.
    pub(crate) fn record_failure(
        &self,
        field: &Field,
        indices: ListIndices,
        error: impl IntoFieldError,
    ) -> NullPropagation {
        self.record_failure_by_meta(field.meta, indices, error.into_field_error())
    }

    /// Records a failure, unless its error exceeds the limit of the errors. Then one error says so,
    /// instead of this one and all that follow.
    pub(crate) fn record_failure_by_meta(
        &self,
        meta: u32,
        indices: ListIndices,
        error: FieldError,
    ) -> NullPropagation {
        if let Some(observer) = &self.observer {
            observer.fail(meta, &error);
        }
        let size = self.size_of_failure(meta, &indices, &error);
        if self.meter.admits_error(size) {
            self.keep_failure(meta, indices, error);
        } else if self.meter.exceed() {
            self.keep_failure(meta, indices, self.too_large());
        }
        NullPropagation
    }

    /// Approximate bytes of an error in the response.
    fn size_of_failure(&self, meta: u32, indices: &ListIndices, error: &FieldError) -> usize {
        let meta = usize::try_from(meta).ok();
        let place = meta.and_then(|at| self.plan.metas.get(at)).map(|meta| meta.place);
        FAILURE + error.message().len() + self.plan.path_size(place, indices.as_slice())
    }

    fn keep_failure(&self, meta: u32, indices: ListIndices, error: FieldError) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.push(FieldFailure { meta, indices, error });
    }

    /// Records the failure of `field` and writes null if the field is nullable.
    pub(crate) fn fail(
        &self,
        field: &Field,
        indices: ListIndices,
        error: impl IntoFieldError,
        out: &mut Vec<u8>,
    ) -> WriteResult {
        let propagation = self.record_failure(field, indices, error);
        if field.non_null {
            return Err(propagation);
        }
        out.extend_from_slice(b"null");
        Ok(())
    }

    /// Checks a part of `length` bytes that belongs to `field` against the limit of the response.
    ///
    /// # Errors
    ///
    /// If the limit is exceeded. The first time, the failure is recorded.
    #[inline]
    pub(crate) fn fits(&self, field: &Field, path: &Path<'_>, length: usize) -> WriteResult {
        if self.meter.has_room(length) {
            return Ok(());
        }
        self.exceed(field, path)
    }

    /// Checks that the limit of the response still allows a list.
    ///
    /// # Errors
    ///
    /// If the limit was exceeded before.
    #[inline]
    pub(crate) fn begins_list(&self) -> WriteResult {
        if self.meter.is_exceeded() {
            Err(NullPropagation)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn exceed(&self, field: &Field, path: &Path<'_>) -> WriteResult {
        if self.meter.exceed() {
            self.keep_failure(field.meta, path.list_indices(), self.too_large());
        }
        Err(NullPropagation)
    }

    fn too_large(&self) -> FieldError {
        let limit = self.meter.limit();
        let message = format!("the response is larger than {limit} bytes; it ends here");
        GraphError::new(ErrorCode::MaxResponseSizeExceeded, message).into()
    }

    /// Ends the observation of the resolver whose value is being written.
    pub(crate) fn resolved(&self) {
        if let Some(observer) = &self.observer {
            observer.resolved();
        }
    }

    /// Records that the source of the subscription yielded an event.
    #[inline]
    pub fn begin_event(&self) {
        if let Some(observer) = &self.observer {
            observer.begin_event();
        }
    }

    /// Records that generated code and the plan do not match.
    pub(crate) fn record_mismatch(&self, field: &Field) -> NullPropagation {
        let error = GraphError::internal("the plan does not match the table of the type");
        self.record_failure(field, Path::Root(&ListIndices::ROOT).list_indices(), error)
    }

    /// Takes the failures recorded since the last call.
    pub(crate) fn take_failures(&self) -> Vec<FieldFailure> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the failures recorded since the last call in the fields of `part`: a deferred group,
    /// or the first part of the response.
    pub(crate) fn take_failures_of(&self, part: Option<&Deferral>) -> Vec<FieldFailure> {
        let recorded = self.take_failures();
        self.deliveries.take_failures(recorded, self.plan, part)
    }

    /// Returns `true` after the deadline: pending fields fail with `TIMEOUT`.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    pub(crate) fn expire(&self) {
        self.expired.store(true, Ordering::Relaxed);
    }
}

impl<H> Execution<'_, RequestContext<H>> {
    /// Applies the result of a guard function for `parent.field`.
    ///
    /// # Errors
    ///
    /// If `allowed` is `false`: `UNAUTHENTICATED` without a principal, `FORBIDDEN` with one. In
    /// dry-run mode the refusal is only reported, and the result is `Ok`.
    pub fn apply_guard(&self, parent: &str, field: &str, allowed: bool) -> Result<(), GraphError> {
        self.watch.allowed(self.context, parent, field, allowed)
    }
}
