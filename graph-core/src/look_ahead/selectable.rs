//! Types whose selections can be read, and typed references to their fields.

use std::marker::PhantomData;
use std::sync::Arc;

/// Object type with typed references to its fields. `look_ahead` in its attribute implements this
/// trait.
///
/// A reference names the types of the field's arguments and of its value. These types must be as
/// visible as the object type.
#[diagnostic::on_unimplemented(
    message = "the selection on `{Self}` cannot be read",
    label = "write `look_ahead` in the attribute of `{Self}`: `#[graph_object(look_ahead, ..)]` or `#[graphql(look_ahead, ..)]` beside the derive"
)]
pub trait Selectable: Sized {
    /// Struct with a [`FieldRef`] for each field, named like the method or the struct field.
    type Fields;
    /// References to the fields.
    const FIELDS: Self::Fields;
    /// GraphQL name of the type.
    const NAME: &'static str;
    /// GraphQL names of the fields.
    const NAMES: &'static [&'static str];
}

/// Interface or union, whose selection is read for one object type at a time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an interface or a union",
    label = "remove `on`: the selection is that of an object type"
)]
pub trait AbstractType {}

/// Object type, interface or union, or a list, option, result or pointer of one.
#[diagnostic::on_unimplemented(
    message = "the selection on `{Self}` cannot be read",
    label = "a leaf has no selection, and an object type needs the word `look_ahead` in its attribute"
)]
pub trait Selects {
    /// Object type, interface or union inside the wrappers.
    type Type;
}

/// Implements [`Selects`] for wrappers.
macro_rules! impl_selects {
    ($([$($generics:tt)*] $wrapper:ty, $inner:ty;)*) => {$(
        impl<$($generics)*> Selects for $wrapper
        where
            $inner: Selects,
        {
            type Type = <$inner as Selects>::Type;
        }
    )*};
}

impl_selects! {
    [T] Option<T>, T;
    [T, E] Result<T, E>, T;
    [T] Vec<T>, T;
    [T] [T], T;
    [T, const N: usize] [T; N], T;
    [T: ?Sized] &T, T;
    [T: ?Sized] Box<T>, T;
    [T: ?Sized] Arc<T>, T;
}

/// Typed reference to a field of the object type `T`. The field has the arguments `A` and a value
/// of the type `V`.
pub struct FieldRef<T: ?Sized, A, V: ?Sized> {
    index: u16,
    of: PhantomData<fn(&T, &A, &V)>,
}

impl<T: ?Sized, A, V: ?Sized> FieldRef<T, A, V> {
    /// For generated code only: the field with this index in the table of its type.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(index: u16) -> Self {
        Self {
            index,
            of: PhantomData,
        }
    }

    pub(super) const fn index(self) -> u16 {
        self.index
    }
}

impl<T: ?Sized, A, V: ?Sized> Clone for FieldRef<T, A, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized, A, V: ?Sized> Copy for FieldRef<T, A, V> {}

impl<T: Selectable, A, V: ?Sized> std::fmt::Debug for FieldRef<T, A, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = T::NAMES.get(usize::from(self.index)).unwrap_or(&"?");
        write!(f, "{}.{name}", T::NAME)
    }
}
