//! Refusals by guard functions in generated code.

use super::{Execution, Field, ListIndices, NullPropagation, Path, SegmentResult, WriteResult};
use crate::error::GraphError;

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
