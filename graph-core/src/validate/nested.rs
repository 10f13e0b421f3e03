//! Types with rules of their own, and the values around them.

use std::marker::PhantomData;
use std::sync::Arc;

use juniper::marker::IsOutputType;
use juniper::{DefaultScalarValue, Nullable};

use super::Faults;

/// Type of an argument with rules of its own. Derived by
/// [`GraphInput`](macro@crate::GraphInput).
///
/// Every argument whose type implements the trait is validated, without an attribute. The trait is
/// implemented for options, lists and boxes of such types. In a generic resolver or input object,
/// a type parameter needs the bound `T: Validate`, otherwise its values are not validated.
///
/// ```
/// use graph_core::validate::{Faults, Validate};
///
/// struct Period {
///     from: i32,
///     to: i32,
/// }
///
/// impl Validate for Period {
///     fn validate(&self, faults: &mut Faults<'_>) {
///         if self.to < self.from {
///             faults.field("to", |faults| faults.report("must not be before `from`"));
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not validated",
    label = "derive `graph_core::GraphInput` for this input object"
)]
pub trait Validate {
    /// Reports the faults of the value.
    fn validate(&self, faults: &mut Faults<'_>);
}

impl<T: Validate> Validate for Option<T> {
    fn validate(&self, faults: &mut Faults<'_>) {
        if let Some(value) = self {
            value.validate(faults);
        }
    }
}

impl<T: Validate> Validate for Nullable<T> {
    fn validate(&self, faults: &mut Faults<'_>) {
        if let Self::Some(value) = self {
            value.validate(faults);
        }
    }
}

impl<T: Validate> Validate for [T] {
    fn validate(&self, faults: &mut Faults<'_>) {
        for (index, value) in self.iter().enumerate() {
            faults.entry(index, |faults| value.validate(faults));
        }
    }
}

impl<T: Validate> Validate for Vec<T> {
    fn validate(&self, faults: &mut Faults<'_>) {
        self.as_slice().validate(faults);
    }
}

impl<T: Validate, const N: usize> Validate for [T; N] {
    fn validate(&self, faults: &mut Faults<'_>) {
        self.as_slice().validate(faults);
    }
}

impl<T: Validate + ?Sized> Validate for Box<T> {
    fn validate(&self, faults: &mut Faults<'_>) {
        (**self).validate(faults);
    }
}

impl<T: Validate + ?Sized> Validate for Arc<T> {
    fn validate(&self, faults: &mut Faults<'_>) {
        (**self).validate(faults);
    }
}

/// Value of any type. Generated code calls `(&&&Probe(value)).check(faults)`: by method resolution,
/// it calls [`Validate::validate`] if the type implements [`Validate`], and else does nothing.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code makes it")]
pub struct Probe<'v, T: ?Sized>(pub &'v T);

/// Type `T` of an argument, as [`Probe`] without a value.
pub struct Kind<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> Kind<T> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: ?Sized> std::fmt::Debug for Kind<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kind")
    }
}

/// Validation of the type of an argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three kinds of types")]
pub enum Validation {
    /// The type implements [`Validate`].
    Own,
    /// Scalar or enum, or a list of these.
    Leaf,
    /// Input object without the derive.
    Missing,
}

/// Dispatch for a type with rules.
pub trait Validated {
    /// Validates the value.
    fn check(&self, _: &mut Faults<'_>) {}

    /// Returns the kind of the type.
    fn kind(&self) -> Validation {
        Validation::Own
    }
}

impl<T: Validate + ?Sized> Validated for &&Probe<'_, T> {
    fn check(&self, faults: &mut Faults<'_>) {
        self.0.validate(faults);
    }
}

impl<T: Validate + ?Sized> Validated for &&Kind<T> {}

/// Dispatch for a leaf, which juniper can also write.
pub trait Leaf {
    /// Does nothing.
    #[inline]
    fn check(&self, _: &mut Faults<'_>) {}

    /// Returns the kind of the type.
    fn kind(&self) -> Validation {
        Validation::Leaf
    }
}

impl<T: IsOutputType<DefaultScalarValue> + ?Sized> Leaf for &Probe<'_, T> {}

impl<T: IsOutputType<DefaultScalarValue> + ?Sized> Leaf for &Kind<T> {}

/// Dispatch for a type without rules.
pub trait Unvalidated {
    /// Does nothing.
    #[inline]
    fn check(&self, _: &mut Faults<'_>) {}

    /// Returns the kind of the type.
    fn kind(&self) -> Validation {
        Validation::Missing
    }
}

impl<T: ?Sized> Unvalidated for Probe<'_, T> {}

impl<T: ?Sized> Unvalidated for Kind<T> {}

/// Calls of generated code: a field of an input object must be a leaf or implement [`Validate`].
pub mod strict {
    use super::{Faults, Probe, Validate};

    /// Dispatch for any other type, in the place of [`Unvalidated`](super::Unvalidated).
    pub trait Refused<T: ?Sized> {
        /// A call does not compile, because `T` does not implement [`Validate`].
        fn check(&self, _: &mut Faults<'_>)
        where
            T: Validate,
        {
        }
    }

    impl<T: ?Sized> Refused<T> for Probe<'_, T> {}
}
