//! Writes the results of resolvers.

use juniper::IntoFieldError;

use super::output::Output;
use super::plan::Field;
use super::{Execution, ListIndices, Path, PendingFields, Segment, SegmentResult, WriteResult};

/// Writes the result of an asynchronous resolver.
pub(super) async fn written<'p, C, T, E>(
    result: Result<T, E>,
    field: &'p Field,
    cx: &'p Execution<'p, C>,
    indices: ListIndices,
) -> SegmentResult
where
    C: Sync,
    T: Output<C> + Send + Sync,
    E: IntoFieldError,
{
    match result {
        // boxed: otherwise the future of a leaf would be as large as that of an object
        Ok(value) if field.sel_async => Box::pin(deep(Fine::Ok(value), field, cx, indices)).await,
        Ok(value) => {
            let mut out = Vec::with_capacity(if field.is_leaf() { LEAF } else { OBJECT });
            let path = Path::Root(&indices);
            value.write(field, cx, &path, &mut out)?;
            cx.fits(field, &path, out.len())?;
            cx.meter.complete(out.len());
            Ok(out.into())
        }
        Err(error) => failed(error, field, cx, indices),
    }
}

fn failed<C>(
    error: impl IntoFieldError,
    field: &Field,
    cx: &Execution<'_, C>,
    indices: ListIndices,
) -> SegmentResult {
    let mut out = Vec::new();
    cx.fail(field, indices, error, &mut out)?;
    Ok(out.into())
}

/// Initial buffer capacities in bytes, chosen so that most values need no reallocation.
const LEAF: usize = 24;
const OBJECT: usize = 96;
const AROUND: usize = 256;

/// Writes a value with asynchronous fields, and keeps the value until these fields are complete.
pub(super) async fn deep<C, T, E>(
    result: Result<T, E>,
    field: &Field,
    cx: &Execution<'_, C>,
    indices: ListIndices,
) -> SegmentResult
where
    C: Sync,
    T: Output<C> + Send + Sync,
    E: IntoFieldError,
{
    let value = match result {
        Ok(value) => value,
        Err(error) => return failed(error, field, cx, indices),
    };
    let mut seg = Segment::from(Vec::with_capacity(AROUND));
    // borrows the value, so it is declared after the value and dropped first
    let mut pend = PendingFields::default();
    let path = Path::Root(&indices);
    value.write_async(field, cx, &path, &mut seg, &mut pend)?;
    cx.fits(field, &path, seg.buf.len())?;
    cx.meter.complete(seg.buf.len());
    let remainder = pend.run(&mut seg, cx).await?;
    if remainder.is_empty() {
        return Ok(seg);
    }
    // boxed: keeps the rare case out of the size of every future
    Box::pin(remainder.after(seg, cx)).await
}

pub(super) fn write_result<C, T: Output<C>, E: IntoFieldError>(
    result: Result<T, E>,
    field: &Field,
    cx: &Execution<'_, C>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> WriteResult {
    match result {
        Ok(value) => value.write(field, cx, path, out),
        Err(error) => cx.fail(field, path.list_indices(), error, out),
    }
}

/// Infallible result.
pub(super) type Fine<T> = Result<T, std::convert::Infallible>;
