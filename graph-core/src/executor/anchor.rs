//! Order in which the compiler instantiates the types of a schema.
//!
//! The compiler instantiates functions depth first, and counts how often one generic function is
//! open on its stack. With a chain of object types the functions of this crate would be open once
//! per type, and a chain of about 40 types would exceed the default recursion limit. An
//! [`anchor`](Anchor::anchor) is an ordinary function of each type that names the anchors of the
//! types of its fields, and then the functions of its own type. An instantiation that starts at an
//! anchor thus reaches the last type first, and no generic function is open twice.
//!
//! The functions here do nothing. They are not inlined, because that would remove their arguments.

use std::marker::PhantomData;

use juniper::DefaultScalarValue;
use juniper::meta::MetaType;

use super::plan::Field;
use super::table::Registry;
use super::{BoxFuture, Execution, ListIndices, Path, SegmentResult, WriteResult};

/// Absence of a value of the type `T`.
#[derive(Debug)]
pub struct Nothing<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> Nothing<T> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

/// Type of a schema with an anchor: object type, interface, union or subscription root.
pub trait Anchor<C> {
    /// Names the functions that belong to the type, those of its fields' types first.
    fn anchor(_: Nothing<Self>);
}

/// Leaf types need no anchor.
impl<C> Anchor<C> for () {
    fn anchor(_: Nothing<Self>) {}
}

/// Names the anchor of `T`.
#[inline(never)]
pub fn name_anchor<T: ?Sized>(_: Nothing<T>, _: fn(Nothing<T>)) {}

/// Names the functions that declare and register a type.
#[inline(never)]
pub fn name_declaration(
    _: fn(&(), &mut juniper::Registry) -> MetaType<DefaultScalarValue>,
    _: fn(&mut Registry),
) {
}

/// Names the functions that write the fields of an object.
#[inline(never)]
pub fn name_fields<C, T: ?Sized>(
    _: fn(&T, &Field, &Execution<'_, C>, &Path<'_>, &mut Vec<u8>) -> WriteResult,
    _: for<'p> fn(&'p T, &'p Field, &'p Execution<'p, C>, ListIndices) -> BoxFuture<'p, SegmentResult>,
) {
}
