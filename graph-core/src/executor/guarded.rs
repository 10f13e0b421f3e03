//! Guards in generated code: guard functions, and all guards of fields that juniper executes.

use juniper::{FieldError, IntoFieldError};

use super::{Execution, Field, Guard, ListIndices, NullPropagation, Path, SegmentResult, WriteResult};
use crate::error::GraphError;
use crate::guard::{GuardMode, RequestContext, watch};

/// Writes the refusal of a field by its guard function.
///
/// # Errors
///
/// If the field is non-null: the null then propagates to its parent.
#[cold]
pub fn write_refusal<C>(
    refused: GraphError,
    field: &Field,
    cx: &Execution<'_, C>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> WriteResult {
    cx.fail(field, path.list_indices(), refused, out)
}

/// Writes the refusal of an asynchronous field by its guard function.
///
/// # Errors
///
/// If the field is non-null: the null then propagates to its parent.
#[cold]
pub fn write_refusal_async<C>(
    refused: GraphError,
    field: &Field,
    cx: &Execution<'_, C>,
    indices: ListIndices,
) -> SegmentResult {
    let mut out = Vec::new();
    cx.fail(field, indices, refused, &mut out)?;
    Ok(out.into())
}

/// Records the refusal of a subscription by its guard function.
#[cold]
pub fn record_refusal<C>(refused: GraphError, field: &Field, cx: &Execution<'_, C>) -> NullPropagation {
    cx.record_failure(field, ListIndices::ROOT, refused)
}

/// Checks `guards` before a field that juniper executes.
///
/// # Errors
///
/// If a guard refuses the principal.
pub fn check_guards_plain<H>(context: &RequestContext<H>, guards: &[Guard]) -> Result<(), FieldError> {
    match guards.iter().find_map(|guard| guard.refusal(context)) {
        // already reported to the log before execution
        Some(refused) if watch().mode != GuardMode::DryRun => Err(refused.into_field_error()),
        _ => Ok(()),
    }
}

/// Applies the result of a guard function for `parent.field`, which juniper executes.
///
/// # Errors
///
/// If the guard refuses the principal.
pub fn apply_guard_plain<H>(
    context: &RequestContext<H>,
    parent: &str,
    field: &str,
    allowed: bool,
) -> Result<(), FieldError> {
    let judged = watch().allowed(context, parent, field, allowed);
    judged.map_err(IntoFieldError::into_field_error)
}
