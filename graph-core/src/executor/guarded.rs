//! What generated code does with guards: those that ask the object, and all of them where juniper executes.

use juniper::{FieldError, IntoFieldError};

use super::{Bubble, Cx, Field, Flow, Guard, Path, SegResult, Trail};
use crate::error::GraphError;
use crate::guard::{GuardMode, RequestContext, watch};

/// Writes a field that its object `refused`.
///
/// # Errors
///
/// The field cannot be null.
#[cold]
pub fn refused<C>(
    refused: GraphError,
    field: &Field,
    cx: &Cx<'_, C>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Flow {
    cx.fail(field, path.trail(), refused, out)
}

/// Writes an asynchronous field that its object `refused`.
///
/// # Errors
///
/// The field cannot be null.
#[cold]
pub fn refused_async<C>(refused: GraphError, field: &Field, cx: &Cx<'_, C>, trail: Trail) -> SegResult {
    let mut out = Vec::new();
    cx.fail(field, trail, refused, &mut out)?;
    Ok(out.into())
}

/// Does not open a stream that its root `refused`.
#[cold]
pub fn refused_stream<C>(refused: GraphError, field: &Field, cx: &Cx<'_, C>) -> Bubble {
    cx.note(field, Trail::ROOT, refused)
}

/// Asks `guards` in front of a field that juniper executes.
///
/// # Errors
///
/// The principal may not select it.
pub fn admitted_plain<H>(context: &RequestContext<H>, guards: &[Guard]) -> Result<(), FieldError> {
    match guards.iter().find_map(|guard| guard.refusal(context)) {
        // the log was told before the operation ran
        Some(refused) if watch().mode != GuardMode::DryRun => Err(refused.into_field_error()),
        _ => Ok(()),
    }
}

/// What an object said of its field `parent.field`, which juniper executes.
///
/// # Errors
///
/// It does not let the principal select it.
pub fn allowed_plain<H>(
    context: &RequestContext<H>,
    parent: &str,
    field: &str,
    allowed: bool,
) -> Result<(), FieldError> {
    let judged = watch().allowed(context, parent, field, allowed);
    judged.map_err(IntoFieldError::into_field_error)
}
