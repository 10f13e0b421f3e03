//! Object types: fields by index.

use juniper::{EmptyMutation, EmptySubscription};

use super::contain::contained;
use super::deferred::{Deferral, deferred};
use super::plan::Field;
use super::table::TypeInfo;
use super::{
    Anchor, BoxFuture, BoxStream, Execution, ListIndices, Nothing, NullPropagation, Path, PendingFields,
    Segment, SegmentResult, WriteResult,
};
use crate::error::GraphError;
use crate::observe::{Observed, observe};

/// Object type of the schema, implemented by `#[graph_object]` and the other macros.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object of the graph with the context `{C}`",
    label = "write `#[graph_core::graph_object(context = ..)]` above its `impl` block, with the context of the schema"
)]
pub trait Object<C>: Anchor<C> + Sync {
    /// Names, arguments and guards of the fields.
    const INFO: &'static TypeInfo;

    /// Writes the value of a synchronous field with its selection.
    ///
    /// # Errors
    ///
    /// If a failure propagates beyond the field.
    fn field(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult;

    /// Writes the value of a field that is asynchronous or has an asynchronous selection.
    fn field_async<'p>(
        &'p self,
        field: &'p Field,
        cx: &'p Execution<'p, C>,
        indices: ListIndices,
    ) -> BoxFuture<'p, SegmentResult>;
}

/// Subscription root, implemented by `#[graph_subscription]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscription root of the graph with the context `{C}`",
    label = "write `#[graph_core::graph_subscription(context = ..)]` above its `impl` block, with the context of the schema"
)]
pub trait Source<C>: Anchor<C> + Sync {
    /// Names, arguments and guards of the fields.
    const INFO: &'static TypeInfo;

    /// Opens the stream of a field.
    fn open<'p>(&'p self, field: &'p Field, cx: &'p Execution<'p, C>) -> BoxFuture<'p, Opened<'p>>;
}

/// Interface or union, implemented by `#[graph_interface]` and `#[graph_union]`.
pub trait Abstract<C>: Anchor<C> {
    /// Names and types of the members, and of the fields of an interface.
    const INFO: &'static TypeInfo;
}

/// Stream of a subscription field.
pub type Opened<'p> = Result<BoxStream<'p, SegmentResult>, NullPropagation>;

/// Writes the object `value` with `fields`.
///
/// # Errors
///
/// If a failure propagates beyond the object. The output is then incomplete.
#[inline]
pub fn write_object<C, T: Object<C> + ?Sized>(
    value: &T,
    fields: &[Field],
    cx: &Execution<'_, C>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> WriteResult {
    let start = out.len();
    let (mut at, mut from) = (0, start);
    let mut outcome = Ok(());
    // once for all fields of the object, and once more after each panic
    while let Err(payload) = contained(|| {
        for field in fields.get(at..).unwrap_or_default() {
            field.key.write(out);
            from = out.len();
            if field.checked {
                write_checked(value, field, cx, path, out)?;
            } else if field.idx != Field::CONST {
                value.field(field, cx, path, out)?;
            }
            at += 1;
        }
        Ok(())
    })
    .map(|written: WriteResult| outcome = written)
    {
        cx.interrupted(fields.get(at), path, payload, from, out)?;
        at += 1;
    }
    outcome?;
    if let Some(last) = fields.last() {
        cx.fits(last, path, out.len())?;
    }
    close(start, out);
    Ok(())
}

/// Writes the object `value` with `fields` and leaves holes for asynchronous fields.
///
/// # Errors
///
/// If a failure propagates beyond the object.
#[inline]
pub fn write_object_async<'p, C: Sync, T: Object<C> + ?Sized>(
    value: &'p T,
    fields: &'p [Field],
    cx: &'p Execution<'p, C>,
    path: &Path<'_>,
    seg: &mut Segment,
    pend: &mut PendingFields<'p>,
) -> WriteResult {
    let start = seg.buf.len();
    let (mut at, mut from) = (0, start);
    let mut outcome = Ok(());
    while let Err(payload) = contained(|| {
        for field in fields.get(at..).unwrap_or_default() {
            field.key.write(&mut seg.buf);
            from = seg.buf.len();
            if field.checked {
                write_checked_async(value, field, cx, path, seg, pend)?;
            } else if field.idx == Field::DEFERRED {
                defer(value, field, cx, path, seg, pend);
            } else if field.has_async {
                let indices = path.list_indices();
                let hole = seg.leave(!field.non_null, field.meta, indices.clone());
                pend.push_field(hole, value.field_async(field, cx, indices), cx);
            } else if field.idx != Field::CONST {
                value.field(field, cx, path, &mut seg.buf)?;
            }
            at += 1;
        }
        Ok(())
    })
    .map(|written: WriteResult| outcome = written)
    {
        cx.interrupted(fields.get(at), path, payload, from, &mut seg.buf)?;
        at += 1;
    }
    outcome?;
    // a group is checked with its own fields
    if let Some(last) = fields.last().filter(|last| last.idx != Field::DEFERRED) {
        cx.fits(last, path, seg.buf.len())?;
    }
    close(start, &mut seg.buf);
    Ok(())
}

/// Defers the fields of the group `field` on `value`.
#[cold]
fn defer<'p, C: Sync, T: Object<C> + ?Sized>(
    value: &'p T,
    field: &'p Field,
    cx: &'p Execution<'p, C>,
    path: &Path<'_>,
    seg: &mut Segment,
    pend: &mut PendingFields<'p>,
) {
    let group = usize::try_from(field.meta).ok();
    let group = group.and_then(|at| cx.plan().deferred.get(at));
    cx.meter.complete(group.map_or(0, |group| group.overhead));
    let indices = path.list_indices();
    let hole = seg.defer(field.meta, indices.clone());
    let part = Deferral {
        group: field.meta,
        indices,
    };
    let write = move |part: &Deferral, seg: &mut Segment, pend: &mut PendingFields<'p>| {
        let path = Path::Root(&part.indices);
        write_object_async(value, field.selected(""), cx, &path, seg, pend)
    };
    // boxed, so that the future does not depend on the type of the object
    pend.push_deferred(hole, Box::pin(deferred(part, Box::new(write), cx)));
}

/// Writes a field with [`Field::checked`].
#[inline(never)]
fn write_checked<C, T: Object<C> + ?Sized>(
    value: &T,
    field: &Field,
    cx: &Execution<'_, C>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> WriteResult {
    match checked_step(field, cx) {
        Step::Call => value.field(field, cx, path, out),
        Step::Constant => Ok(()),
        Step::Observe => {
            let indices = path.list_indices();
            observe(field, cx, &indices, &mut || value.field(field, cx, path, out))
        }
        Step::Refuse(refusal) => cx.fail(field, path.list_indices(), refusal, out),
    }
}

/// Writes a field with [`Field::checked`], or leaves a hole for it.
#[inline(never)]
fn write_checked_async<'p, C: Sync, T: Object<C> + ?Sized>(
    value: &'p T,
    field: &'p Field,
    cx: &'p Execution<'p, C>,
    path: &Path<'_>,
    seg: &mut Segment,
    pend: &mut PendingFields<'p>,
) -> WriteResult {
    if !field.has_async {
        return write_checked(value, field, cx, path, &mut seg.buf);
    }
    let step = checked_step(field, cx);
    let indices = path.list_indices();
    if let Step::Refuse(refusal) = step {
        return cx.fail(field, indices, refusal, &mut seg.buf);
    }
    let hole = seg.leave(!field.non_null, field.meta, indices.clone());
    let future = match step {
        Step::Observe => {
            let future = value.field_async(field, cx, indices.clone());
            Observed::boxed(future, field, cx, indices)
        }
        _ => value.field_async(field, cx, indices),
    };
    pend.push_field(hole, future, cx);
    Ok(())
}

/// Next step of the executor for a field.
enum Step {
    /// Calls the resolver.
    Call,
    /// Writes nothing: the key includes the value.
    Constant,
    /// Calls the resolver and observes it.
    Observe,
    Refuse(GraphError),
}

/// Next step for a field with [`Field::checked`].
fn checked_step<C>(field: &Field, cx: &Execution<'_, C>) -> Step {
    let is_entrance = field.idx == Field::CONST;
    if is_entrance {
        cx.resolved();
    }
    match cx.decisions.refusal(field) {
        Some(refusal) => Step::Refuse(refusal),
        None if is_entrance => Step::Constant,
        None if field.observed => Step::Observe,
        None => Step::Call,
    }
}

/// Writes a field that is not asynchronous.
///
/// # Errors
///
/// If a failure propagates beyond the field.
pub(crate) fn write_field<C, T: Object<C> + ?Sized>(
    value: &T,
    field: &Field,
    cx: &Execution<'_, C>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> WriteResult {
    if field.checked {
        write_checked(value, field, cx, path, out)
    } else if field.idx == Field::CONST {
        Ok(())
    } else {
        value.field(field, cx, path, out)
    }
}

/// Refusal of a field by a guard or by its arguments.
#[inline]
pub(crate) fn checked<C>(field: &Field, cx: &Execution<'_, C>) -> Option<GraphError> {
    if field.checked {
        cx.decisions.refusal(field)
    } else {
        None
    }
}

/// Completes an object whose members each start with a comma.
pub(crate) fn close(start: usize, out: &mut Vec<u8>) {
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

/// Default arm of `match field.index()` in [`Object::field`].
///
/// # Errors
///
/// Always fails, because the plan does not match the table of the type.
#[cold]
pub fn no_such_field<C>(field: &Field, cx: &Execution<'_, C>) -> WriteResult {
    Err(cx.record_mismatch(field))
}

/// Default arm of `match field.index()` in [`Object::field_async`].
#[cold]
pub fn no_such_future<'p, C: Sync>(
    field: &'p Field,
    cx: &'p Execution<'p, C>,
) -> BoxFuture<'p, SegmentResult> {
    let propagation = cx.record_mismatch(field);
    Box::pin(async move { Err(propagation) })
}

/// Default arm of `match field.index()` in [`Source::open`].
#[cold]
pub fn no_such_stream<'p, C: Sync>(field: &'p Field, cx: &'p Execution<'p, C>) -> BoxFuture<'p, Opened<'p>> {
    let propagation = cx.record_mismatch(field);
    Box::pin(async move { Err(propagation) })
}

impl<C> Anchor<C> for EmptyMutation<C> {
    fn anchor(_: Nothing<Self>) {}
}

impl<C> Anchor<C> for EmptySubscription<C> {
    fn anchor(_: Nothing<Self>) {}
}

/// Empty mutation root, with juniper's name for it.
impl<C: Sync> Object<C> for EmptyMutation<C> {
    const INFO: &'static TypeInfo = &TypeInfo {
        name: "_EmptyMutation",
        ..TypeInfo::EMPTY
    };

    fn field(&self, field: &Field, cx: &Execution<'_, C>, _: &Path<'_>, _: &mut Vec<u8>) -> WriteResult {
        no_such_field(field, cx)
    }

    fn field_async<'p>(
        &'p self,
        field: &'p Field,
        cx: &'p Execution<'p, C>,
        _: ListIndices,
    ) -> BoxFuture<'p, SegmentResult> {
        no_such_future(field, cx)
    }
}

/// Empty subscription root, with juniper's name for it.
impl<C: Sync> Source<C> for EmptySubscription<C> {
    const INFO: &'static TypeInfo = &TypeInfo {
        name: "_EmptySubscription",
        ..TypeInfo::EMPTY
    };

    fn open<'p>(&'p self, field: &'p Field, cx: &'p Execution<'p, C>) -> BoxFuture<'p, Opened<'p>> {
        no_such_stream(field, cx)
    }
}
