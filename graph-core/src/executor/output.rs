//! Values of fields: leaves, objects, and their wrappers.

use std::sync::Arc;

use super::plan::Field;
use super::table::Registry;
use super::{Anchor, Execution, Path, PendingFields, Segment, WriteResult};

/// Type that a field can return.
#[diagnostic::on_unimplemented(
    message = "a field cannot return `{Self}`",
    label = "not a type of the graph with the context `{C}`",
    note = "write `#[graph_object(context = ..)]` above the `impl` block of an object, or `#[derive(GraphObject)]`; `#[graph_interface(..)]` or `#[graph_union(..)]`; `#[derive(GraphQLEnum, GraphEnum)]` for an enum; the attributes of juniper for objects do not suffice",
    note = "numbers are `i32` and `f64`; GraphQL has no maps and no sets: write a `Vec` of objects; a value is sent between threads: write `Arc`, not `Rc`",
    note = "types of one graph have the same `context = ..`; with the context `__AnyContext`, write it in the attribute of the type that has this field"
)]
pub trait Output<C> {
    /// Type that has the anchor of the value: the innermost type, or `()` for a leaf.
    type Anchor: Anchor<C> + ?Sized;

    /// Registers the object types of the value.
    fn register(registry: &mut Registry);

    /// Writes the value of `field` when its selection is synchronous.
    ///
    /// # Errors
    ///
    /// If a failure propagates beyond the value.
    fn write(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult;

    /// Writes the value of `field` and leaves holes for asynchronous fields.
    ///
    /// # Errors
    ///
    /// If a failure propagates beyond the value.
    #[inline]
    fn write_async<'p>(
        &'p self,
        field: &'p Field,
        cx: &'p Execution<'p, C>,
        path: &Path<'_>,
        seg: &mut Segment,
        _pend: &mut PendingFields<'p>,
    ) -> WriteResult {
        self.write(field, cx, path, &mut seg.buf)
    }
}

impl<C, T: Output<C>> Output<C> for Option<T> {
    type Anchor = T::Anchor;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    #[inline]
    fn write(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult {
        let start = out.len();
        if let Some(value) = self {
            if value.write(field, cx, path, out).is_ok() {
                return Ok(());
            }
            out.truncate(start);
        }
        out.extend_from_slice(b"null");
        Ok(())
    }

    fn write_async<'p>(
        &'p self,
        field: &'p Field,
        cx: &'p Execution<'p, C>,
        path: &Path<'_>,
        seg: &mut Segment,
        pend: &mut PendingFields<'p>,
    ) -> WriteResult {
        let Some(value) = self else {
            seg.buf.extend_from_slice(b"null");
            return Ok(());
        };
        let mark = seg.begin();
        match value.write_async(field, cx, path, seg, pend) {
            Ok(()) => seg.end(mark),
            Err(_) => pend.truncate(seg.take_back(mark)),
        }
        Ok(())
    }
}

impl<C, T: Output<C>> Output<C> for [T] {
    type Anchor = T::Anchor;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    #[inline]
    fn write(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult {
        if self.is_empty() {
            out.extend_from_slice(b"[]");
            return Ok(());
        }
        cx.begins_list()?;
        let start = out.len();
        for (value, index) in self.iter().zip(0..) {
            out.push(b',');
            value.write(field, cx, &Path::Index(path, index), out)?;
            cx.fits(field, path, out.len())?;
        }
        close(start, out);
        Ok(())
    }

    fn write_async<'p>(
        &'p self,
        field: &'p Field,
        cx: &'p Execution<'p, C>,
        path: &Path<'_>,
        seg: &mut Segment,
        pend: &mut PendingFields<'p>,
    ) -> WriteResult {
        if self.is_empty() {
            seg.buf.extend_from_slice(b"[]");
            return Ok(());
        }
        cx.begins_list()?;
        let start = seg.buf.len();
        // each entry leaves at least one hole, because its selection is asynchronous
        let likely = self.len().min(MANY);
        seg.reserve(likely);
        pend.reserve(likely);
        for (value, index) in self.iter().zip(0..) {
            seg.buf.push(b',');
            value.write_async(field, cx, &Path::Index(path, index), seg, pend)?;
            cx.fits(field, path, seg.buf.len())?;
        }
        close(start, &mut seg.buf);
        Ok(())
    }
}

/// Maximum number of list entries for which space is reserved.
const MANY: usize = 1024;

/// Completes a list whose entries each start with a comma.
fn close(start: usize, out: &mut Vec<u8>) {
    if let Some(comma) = out.get_mut(start) {
        *comma = b'[';
    }
    out.push(b']');
}

/// Implements [`Output`] for wrappers by delegation.
macro_rules! around {
    ($([$($generics:tt)*] $around:ty, $inner:ty;)*) => {$(
        impl<C, $($generics)*> Output<C> for $around
        where
            $inner: Output<C>,
        {
            type Anchor = <$inner as Output<C>>::Anchor;

            fn register(registry: &mut Registry) {
                <$inner as Output<C>>::register(registry);
            }

            #[inline]
            fn write(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult {
                <$inner as Output<C>>::write(self, field, cx, path, out)
            }

            #[inline]
            fn write_async<'p>(
                &'p self,
                field: &'p Field,
                cx: &'p Execution<'p, C>,
                path: &Path<'_>,
                seg: &mut Segment,
                pend: &mut PendingFields<'p>,
            ) -> WriteResult {
                <$inner as Output<C>>::write_async(self, field, cx, path, seg, pend)
            }
        }
    )*};
}

around! {
    [T] Vec<T>, [T];
    [T, const N: usize] [T; N], [T];
    [T: ?Sized] &T, T;
    [T: ?Sized] Box<T>, T;
    [T: ?Sized] Arc<T>, T;
}
