//! Types whose selections can be read, and typed references to their fields.

use std::marker::PhantomData;
use std::sync::Arc;

/// Object type with typed references to its fields, implemented by the word `look_ahead` in its
/// attribute.
///
/// The references mention the types of the arguments and of the values, which must be as visible as
/// the object type itself.
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

/// Value whose innermost type has a selection: an object type, an interface or a union, and their
/// lists, options, results and pointers.
#[diagnostic::on_unimplemented(
    message = "the selection on `{Self}` cannot be read",
    label = "a leaf has no selection, and an object type needs the word `look_ahead` in its attribute"
)]
pub trait Selects {
    /// Innermost type.
    type Type;
}

/// Implements [`Selects`] for wrappers.
macro_rules! around {
    ($([$($generics:tt)*] $around:ty, $inner:ty;)*) => {$(
        impl<$($generics)*> Selects for $around
        where
            $inner: Selects,
        {
            type Type = <$inner as Selects>::Type;
        }
    )*};
}

around! {
    [T] Option<T>, T;
    [T, E] Result<T, E>, T;
    [T] Vec<T>, T;
    [T] [T], T;
    [T, const N: usize] [T; N], T;
    [T: ?Sized] &T, T;
    [T: ?Sized] Box<T>, T;
    [T: ?Sized] Arc<T>, T;
}

/// Field of the object type `T` with the arguments `A` and the value `V`.
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
