//! Types with rules of their own, and the values around them.

use std::sync::Arc;

use juniper::Nullable;

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

/// Value of any type. Generated code calls `(&&Probe(value)).check(faults)`: by method resolution,
/// it calls [`Validate::validate`] if the type implements [`Validate`], and else does nothing.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code makes it")]
pub struct Probe<'v, T: ?Sized>(pub &'v T);

/// Dispatch for a type with rules.
pub trait Validated {
    /// Validates the value.
    fn check(&self, faults: &mut Faults<'_>);
}

impl<T: Validate + ?Sized> Validated for &Probe<'_, T> {
    fn check(&self, faults: &mut Faults<'_>) {
        self.0.validate(faults);
    }
}

/// Dispatch for a type without rules.
pub trait Unvalidated {
    /// Does nothing.
    #[inline]
    fn check(&self, _: &mut Faults<'_>) {}
}

impl<T: ?Sized> Unvalidated for Probe<'_, T> {}
