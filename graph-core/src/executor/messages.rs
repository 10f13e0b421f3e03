//! Traits for the messages of the compiler.
//!
//! Generated code bounds types by these traits instead of the traits that it needs, so that the
//! compiler's first error says what to write. Each blanket implementation is marked with
//! `do_not_recommend`: otherwise the compiler would report the bound behind it.

use futures_util::stream::Stream;
use juniper::{DefaultScalarValue, FromContext, FromInputValue, GraphQLType, IntoFieldError};

/// Type of an argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument",
    label = "not an input type",
    note = "write `i32`, `f64`, `bool`, `String`, `ID`, an enum with `#[derive(GraphQLEnum)]`, a scalar with `#[derive(GraphQLScalar)]`, an input object with `#[derive(Clone, GraphQLInputObject, GraphInput)]`, or an `Option` or a `Vec` of these",
    note = "the context is no argument: call the parameter `context`, or mark it with `#[graphql(context)]`"
)]
pub trait Input:
    GraphQLType<DefaultScalarValue, TypeInfo = ()> + FromInputValue<Error: IntoFieldError> + Send + Sync + 'static
{
}

#[diagnostic::do_not_recommend]
impl<T> Input for T
where
    T: GraphQLType<DefaultScalarValue, TypeInfo = ()> + FromInputValue + Send + Sync + 'static,
    T::Error: IntoFieldError,
{
}

/// Type of an argument that can be passed to many calls.
#[diagnostic::on_unimplemented(
    message = "the argument `{Self}` cannot be cloned",
    label = "write `#[derive(Clone)]` for this type: arguments are coerced once for many calls"
)]
pub trait ClonedInput: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> ClonedInput for T {}

/// Clones an argument for a call.
#[inline]
pub fn clone_argument<T: ClonedInput>(value: &T) -> T {
    value.clone()
}

/// Part of the context `C`, or `C` itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of the context `{C}`",
    label = "write `&{C}`, or implement `juniper::FromContext<{C}>` for this type"
)]
pub trait ContextPart<C>: FromContext<C> {}

#[diagnostic::do_not_recommend]
impl<C, P: FromContext<C> + ?Sized> ContextPart<C> for P {}

/// Takes a part out of the context.
#[inline]
pub fn context_part<C, P: ContextPart<C> + ?Sized>(context: &C) -> &P {
    P::from(context)
}

/// Value that converts to an argument of the type `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the default value of an argument `{T}`",
    label = "write a value of the type `{T}`, or of a type that implements `Into<{T}>`"
)]
pub trait DefaultOf<T>: Into<T> {}

#[diagnostic::do_not_recommend]
impl<T, V: Into<T>> DefaultOf<T> for V {}

/// Converts `value` to an argument.
#[inline]
pub fn default_value<T, V: DefaultOf<T>>(value: V) -> T {
    value.into()
}

/// Type of an argument whose default value is that of Rust.
#[diagnostic::on_unimplemented(
    message = "the argument `{Self}` has no default value",
    label = "write the value, `default = ..`, or implement `Default` for this type"
)]
pub trait DefaultInput: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> DefaultInput for T {}

/// Default value of an argument.
#[inline]
#[must_use]
pub fn own_default<T: DefaultInput>() -> T {
    T::default()
}

/// Error of a resolver.
#[diagnostic::on_unimplemented(
    message = "a resolver cannot fail with `{Self}`",
    label = "return `Result<_, GraphError>`: `?` converts the errors of other crates to it",
    note = "for an error with a code of its own implement `juniper::IntoFieldError`"
)]
pub trait ResolverError: IntoFieldError + Send {}

#[diagnostic::do_not_recommend]
impl<E: IntoFieldError + Send> ResolverError for E {}

/// Result of a guard function.
#[diagnostic::on_unimplemented(
    message = "a guard function cannot return `{Self}`",
    label = "write a guard function as `fn(&self, &Context) -> bool`"
)]
pub trait Verdict {
    /// Returns `true` if the principal may select the field.
    fn allows(self) -> bool;
}

impl Verdict for bool {
    #[inline]
    fn allows(self) -> bool {
        self
    }
}

/// Type that a resolver of a subscription can return.
#[diagnostic::on_unimplemented(
    message = "a field of a subscription cannot return `{Self}`",
    label = "not a stream that is `Send`",
    note = "write `Pin<Box<dyn Stream<Item = ..> + Send>>`, another named stream, or `Result<.., GraphError>` of a stream"
)]
pub trait Streamed {}

impl<S: Events, E: ResolverError> Streamed for Result<S, E> {}

/// Stream of the events of a subscription.
#[diagnostic::on_unimplemented(
    message = "a field of a subscription cannot return `{Self}`",
    label = "not a stream that is `Send`",
    note = "write `Pin<Box<dyn Stream<Item = ..> + Send>>`, another named stream, or `Result<.., GraphError>` of a stream"
)]
pub trait Events: Stream + Send {}

#[diagnostic::do_not_recommend]
impl<S: Stream + Send> Events for S {}
