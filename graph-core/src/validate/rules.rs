//! Rules of `#[graph(validate(..))]`, called by generated code.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Display;
use std::sync::Arc;

use juniper::{ArcStr, ID, Nullable};

use super::Faults;

/// Value, option or list whose values of the type `L` have a rule.
#[diagnostic::on_unimplemented(
    message = "this rule does not apply to `{Self}`",
    label = "`min` and `max` apply to `i32` and `f64` (`min = 1.0`), `min_length` and `max_length` to strings; \
             write `custom = function` for another type"
)]
pub trait Each<L: ?Sized> {
    /// Calls `check` with each value and its place.
    fn each(&self, faults: &mut Faults<'_>, check: &dyn Fn(&L, &mut Faults<'_>));
}

macro_rules! leaves {
    ($($leaf:ty as $of:ty;)*) => {$(
        impl Each<$of> for $leaf {
            fn each(&self, faults: &mut Faults<'_>, check: &dyn Fn(&$of, &mut Faults<'_>)) {
                check(self, faults);
            }
        }
    )*};
}

leaves! {
    i32 as i32;
    f64 as f64;
    String as str;
    Box<str> as str;
    Arc<str> as str;
    ArcStr as str;
    Cow<'_, str> as str;
    ID as str;
}

impl<L: ?Sized, T: Each<L>> Each<L> for Option<T> {
    fn each(&self, faults: &mut Faults<'_>, check: &dyn Fn(&L, &mut Faults<'_>)) {
        if let Some(value) = self {
            value.each(faults, check);
        }
    }
}

impl<L: ?Sized, T: Each<L>> Each<L> for Nullable<T> {
    fn each(&self, faults: &mut Faults<'_>, check: &dyn Fn(&L, &mut Faults<'_>)) {
        if let Self::Some(value) = self {
            value.each(faults, check);
        }
    }
}

impl<L: ?Sized, T: Each<L>> Each<L> for Vec<T> {
    fn each(&self, faults: &mut Faults<'_>, check: &dyn Fn(&L, &mut Faults<'_>)) {
        for (index, value) in self.iter().enumerate() {
            faults.entry(index, |faults| value.each(faults, check));
        }
    }
}

impl<L: ?Sized, T: Each<L>, const N: usize> Each<L> for [T; N] {
    fn each(&self, faults: &mut Faults<'_>, check: &dyn Fn(&L, &mut Faults<'_>)) {
        for (index, value) in self.iter().enumerate() {
            faults.entry(index, |faults| value.each(faults, check));
        }
    }
}

/// Number of GraphQL.
#[diagnostic::on_unimplemented(
    message = "this rule does not apply to strings",
    label = "`min` and `max` apply to numbers: write `min_length` or `max_length`"
)]
pub trait Number: PartialOrd + Display {}

impl Number for i32 {}
impl Number for f64 {}

/// List, or an option of a list.
#[diagnostic::on_unimplemented(
    message = "this rule does not apply to `{Self}`",
    label = "`min_items` and `max_items` apply to lists"
)]
pub trait Items {
    /// Returns the number of entries; `None` without a list.
    fn items(&self) -> Option<usize>;
}

impl<T> Items for Vec<T> {
    fn items(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T, const N: usize> Items for [T; N] {
    fn items(&self) -> Option<usize> {
        Some(N)
    }
}

impl<T: Items> Items for Option<T> {
    fn items(&self) -> Option<usize> {
        self.as_ref().and_then(Items::items)
    }
}

impl<T: Items> Items for Nullable<T> {
    fn items(&self) -> Option<usize> {
        match self {
            Self::Some(list) => list.items(),
            Self::ImplicitNull | Self::ExplicitNull => None,
        }
    }
}

/// Checks `min = least`.
pub fn min<L: Number + ?Sized>(value: &impl Each<L>, least: &impl Limit<L>, faults: &mut Faults<'_>) {
    let least = least.limit();
    value.each(faults, &|value, faults| {
        if value.partial_cmp(least).is_none_or(Ordering::is_lt) {
            faults.report(format!("must be at least {least}"));
        }
    });
}

/// Checks `max = most`.
pub fn max<L: Number + ?Sized>(value: &impl Each<L>, most: &impl Limit<L>, faults: &mut Faults<'_>) {
    let most = most.limit();
    value.each(faults, &|value, faults| {
        if value.partial_cmp(most).is_none_or(Ordering::is_gt) {
            faults.report(format!("must be at most {most}"));
        }
    });
}

/// Checks `min_length = least`.
pub fn min_length(value: &impl Each<str>, least: usize, faults: &mut Faults<'_>) {
    value.each(faults, &|text, faults| {
        if text.chars().count() < least {
            faults.report(format!(
                "must have at least {}",
                counted(least, "character", "characters")
            ));
        }
    });
}

/// Checks `max_length = most`.
pub fn max_length(value: &impl Each<str>, most: usize, faults: &mut Faults<'_>) {
    value.each(faults, &|text, faults| {
        if text.chars().nth(most).is_some() {
            faults.report(format!(
                "must have at most {}",
                counted(most, "character", "characters")
            ));
        }
    });
}

/// Checks `min_items = least`.
pub fn min_items(list: &impl Items, least: usize, faults: &mut Faults<'_>) {
    if list.items().is_some_and(|items| items < least) {
        faults.report(format!(
            "must have at least {}",
            counted(least, "entry", "entries")
        ));
    }
}

/// Checks `max_items = most`.
pub fn max_items(list: &impl Items, most: usize, faults: &mut Faults<'_>) {
    if list.items().is_some_and(|items| items > most) {
        faults.report(format!("must have at most {}", counted(most, "entry", "entries")));
    }
}

/// Reports the result of a `custom` function.
pub fn custom(result: impl Verdict, faults: &mut Faults<'_>) {
    if let Some(message) = result.fault() {
        faults.report(message);
    }
}

/// Result of a `custom` function.
#[diagnostic::on_unimplemented(
    message = "a function of `custom` cannot return `{Self}`",
    label = "write `fn(&T) -> Result<(), String>`, with the message for the client"
)]
pub trait Verdict {
    /// Returns the message of an invalid value.
    fn fault(self) -> Option<String>;
}

impl Verdict for Result<(), String> {
    fn fault(self) -> Option<String> {
        self.err()
    }
}

/// Limit of the values of the type `L`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the limit of a value `{L}`",
    label = "write a value of the type `{L}`, for example `1` for `i32` and `1.0` for `f64`"
)]
pub trait Limit<L: ?Sized> {
    /// Returns the limit.
    fn limit(&self) -> &L;
}

impl Limit<Self> for i32 {
    fn limit(&self) -> &Self {
        self
    }
}

impl Limit<Self> for f64 {
    fn limit(&self) -> &Self {
        self
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
