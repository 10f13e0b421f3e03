//! Dispatch on the return type of a resolver, by the compiler's method resolution.
//!
//! Generated code calls `(&&&&&Tag::of(&value, cx)).emit(value, ..)`. Method resolution selects the
//! first matching implementation in this order: `Result` of a value, `Result` of a juniper leaf,
//! value, juniper leaf (any [`ToInputValue`], such as juniper's enums and custom scalars), and any
//! other type. A return type of the last kind does not compile: the unmet bound [`Returned`] gives
//! the compiler's message.

use std::future::Future;
use std::marker::PhantomData;

use juniper::marker::IsOutputType;
use juniper::{DefaultScalarValue, GraphQLType, IntoFieldError, ToInputValue};

use super::handle::TypeHandle;
use super::messages::{ResolverError, Streamed};
use super::output::Output;
use super::plan::Field;
use super::result::{Fine, deep, write_result, written};
use super::table::Registry;
use super::{
    Anchor, BoxFuture, Execution, ListIndices, Nothing, NullPropagation, Path, SegmentResult, WriteResult,
    write,
};
use crate::error::GraphError;

/// Return type `T` of a resolver in a graph with the context `C`.
pub struct Tag<T, C>(PhantomData<fn(&T, &C)>);

impl<T, C> std::fmt::Debug for Tag<T, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tag")
    }
}

impl<T, C> Tag<T, C> {
    /// The tag of `T`.
    pub const NEW: Self = Self(PhantomData);

    /// Tag of the type of `value`.
    #[inline]
    pub fn of(_value: &T, _cx: &Execution<'_, C>) -> Self {
        Self::NEW
    }
}

/// Type that a resolver can return: [`Output`], or a `Result` of it. Used for compiler messages
/// only.
#[diagnostic::on_unimplemented(
    message = "a field cannot return `{Self}`",
    label = "not a type of the graph with the context `{C}`",
    note = "write `#[graph_object(context = ..)]` above the `impl` block of an object, or `#[derive(GraphObject)]`; `#[graph_interface(..)]` or `#[graph_union(..)]`; `#[derive(GraphQLEnum, GraphEnum)]` for an enum; the attributes of juniper for objects do not suffice",
    note = "numbers are `i32` and `f64`; GraphQL has no maps and no sets: write a `Vec` of objects; a value is sent between threads: write `Arc`, not `Rc`",
    note = "types of one graph have the same `context = ..`; with the context `__AnyContext`, write it in the attribute of the type that has this field"
)]
pub trait Returned<C> {}

impl<C, T: Output<C> + Send + Sync, E: ResolverError> Returned<C> for Result<T, E> {}
impl<C, T: Output<C> + Send + Sync> Returned<C> for Option<T> {}
impl<C, T: Output<C> + Send + Sync> Returned<C> for Vec<T> {}

/// Type that juniper's registry can declare.
pub trait Declared: GraphQLType<DefaultScalarValue, TypeInfo = ()> {}

impl<T: GraphQLType<DefaultScalarValue, TypeInfo = ()>> Declared for T {}

/// Leaf of juniper, written through the `InputValue` that it converts to.
#[derive(Debug)]
struct Leaf<T>(T);

impl<C, T: ToInputValue> Output<C> for Leaf<T> {
    type Anchor = ();

    fn register(_: &mut Registry) {}

    fn write(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult {
        let start = out.len();
        if write::input_value(&self.0.to_input_value(), out) {
            return Ok(());
        }
        out.truncate(start);
        Err(cx.record_failure(
            field,
            path.list_indices(),
            GraphError::internal("the number has no JSON form"),
        ))
    }
}

macro_rules! level {
    (
        $(#[$doc:meta])*
        $name:ident [$($generics:tt)*] $tag:ty, $value:ty, $handle:expr, $anchor:ty;
        where [$($bounds:tt)*];
        $bound:ident => $result:expr
    ) => {
        $(#[$doc])*
        pub trait $name<C, V> {
            /// Type that has the anchor of the value.
            type Anchor: Anchor<C> + ?Sized;

            /// Returns the GraphQL type of the value.
            fn handle(&self) -> TypeHandle;

            /// Returns no value of that type, for the compiler's inference.
            fn nothing(&self) -> Nothing<Self::Anchor> {
                Nothing::NEW
            }

            /// Writes the result of a resolver with a synchronous selection.
            ///
            /// # Errors
            ///
            /// If a failure propagates beyond the field.
            fn emit(&self, value: V, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult;

            /// Writes the result of a resolver and awaits asynchronous fields.
            fn emit_async<'p>(
                &self,
                value: V,
                field: &'p Field,
                cx: &'p Execution<'p, C>,
                indices: ListIndices,
            ) -> impl Future<Output = SegmentResult> + Send
            where
                V: 'p;

            /// Like `emit_async`, for fields with [`Field::is_deep`].
            fn emit_deep<'p>(
                &self,
                value: V,
                field: &'p Field,
                cx: &'p Execution<'p, C>,
                indices: ListIndices,
            ) -> impl Future<Output = SegmentResult> + Send
            where
                V: 'p;
        }

        impl<C: Sync, $($generics)*> $name<C, $value> for $tag
        where $($bounds)*
        {
            type Anchor = $anchor;

            fn handle(&self) -> TypeHandle {
                $handle
            }

            #[inline]
            fn emit(
                &self,
                $bound: $value,
                field: &Field,
                cx: &Execution<'_, C>,
                path: &Path<'_>,
                out: &mut Vec<u8>,
            ) -> WriteResult {
                write_result($result, field, cx, path, out)
            }

            #[inline]
            fn emit_async<'p>(
                &self,
                $bound: $value,
                field: &'p Field,
                cx: &'p Execution<'p, C>,
                indices: ListIndices,
            ) -> impl Future<Output = SegmentResult> + Send
            where
                $value: 'p,
            {
                written($result, field, cx, indices)
            }

            #[inline]
            fn emit_deep<'p>(
                &self,
                $bound: $value,
                field: &'p Field,
                cx: &'p Execution<'p, C>,
                indices: ListIndices,
            ) -> impl Future<Output = SegmentResult> + Send
            where
                $value: 'p,
            {
                deep($result, field, cx, indices)
            }
        }
    };
}

/// Traits of the dispatch; generated code imports them.
pub mod via {
    use super::{
        Anchor, BoxFuture, Declared, DefaultScalarValue, Execution, Field, Fine, Future, IntoFieldError,
        IsOutputType, Leaf, ListIndices, Nothing, NullPropagation, Output, Path, Returned, SegmentResult,
        Streamed, Tag, ToInputValue, TypeHandle, WriteResult, deep, write_result, written,
    };
    use futures_util::stream::{Empty, Stream, empty};

    level! {
        /// Dispatch for a resolver that returns a `Result` of a value.
        Fallible [T, E] &&&&Tag<Result<T, E>, C>, Result<T, E>, TypeHandle::of::<C, T>(), T::Anchor;
        where [T: Output<C> + Declared + Send + Sync, E: IntoFieldError + Send];
        value => value
    }

    level! {
        /// Dispatch for a resolver that returns a `Result` of a juniper leaf.
        FallibleLeaf [T, E] &&&Tag<Result<T, E>, C>, Result<T, E>, TypeHandle::named::<T>(), ();
        where [T: ToInputValue + Declared + IsOutputType<DefaultScalarValue> + Send + Sync, E: IntoFieldError + Send];
        value => value.map(Leaf)
    }

    level! {
        /// Dispatch for a resolver that returns a value.
        Plain [T] &&Tag<T, C>, T, TypeHandle::of::<C, T>(), T::Anchor;
        where [T: Output<C> + Declared + Send + Sync];
        value => Fine::Ok(value)
    }

    level! {
        /// Dispatch for a resolver that returns a juniper leaf.
        PlainLeaf [T] &Tag<T, C>, T, TypeHandle::named::<T>(), ();
        where [T: ToInputValue + Declared + IsOutputType<DefaultScalarValue> + Send + Sync];
        value => Fine::Ok(Leaf(value))
    }

    /// Dispatch for a return type that is not supported. The bound of [`handle`](Self::handle)
    /// makes the compiler report the cause once per field.
    pub trait Unknown<C, V> {
        /// A call does not compile, because `V` is not [`Returned`].
        fn handle(&self) -> TypeHandle
        where
            V: Returned<C>;

        /// Placeholder that is never called.
        fn nothing(&self) -> Nothing<()> {
            Nothing::NEW
        }

        /// Placeholder that is never called.
        ///
        /// # Errors
        ///
        /// Always fails.
        fn emit(
            &self,
            value: V,
            field: &Field,
            cx: &Execution<'_, C>,
            path: &Path<'_>,
            out: &mut Vec<u8>,
        ) -> WriteResult;

        /// Placeholder that is never called.
        fn emit_async<'p>(
            &self,
            value: V,
            field: &'p Field,
            cx: &'p Execution<'p, C>,
            indices: ListIndices,
        ) -> BoxFuture<'p, SegmentResult>;

        /// Placeholder that is never called.
        fn emit_deep<'p>(
            &self,
            value: V,
            field: &'p Field,
            cx: &'p Execution<'p, C>,
            indices: ListIndices,
        ) -> BoxFuture<'p, SegmentResult>;
    }

    impl<C: Sync, T> Unknown<C, T> for Tag<T, C> {
        fn handle(&self) -> TypeHandle
        where
            T: Returned<C>,
        {
            TypeHandle::named::<bool>()
        }

        fn emit(
            &self,
            _: T,
            field: &Field,
            cx: &Execution<'_, C>,
            _: &Path<'_>,
            _: &mut Vec<u8>,
        ) -> WriteResult {
            Err(cx.record_mismatch(field))
        }

        fn emit_async<'p>(
            &self,
            _: T,
            field: &'p Field,
            cx: &'p Execution<'p, C>,
            _: ListIndices,
        ) -> BoxFuture<'p, SegmentResult> {
            let propagation = cx.record_mismatch(field);
            Box::pin(async move { Err(propagation) })
        }

        fn emit_deep<'p>(
            &self,
            value: T,
            field: &'p Field,
            cx: &'p Execution<'p, C>,
            indices: ListIndices,
        ) -> BoxFuture<'p, SegmentResult> {
            self.emit_async(value, field, cx, indices)
        }
    }

    /// Dispatch for a subscription resolver that returns a `Result` of a stream.
    pub trait FallibleStream<C, S: Stream, E> {
        /// Returns the tag of the events.
        fn event(&self) -> Tag<S::Item, C> {
            Tag::NEW
        }

        /// Returns the tag of the events, for the anchor.
        fn anchored(&self) -> Tag<S::Item, C> {
            Tag::NEW
        }

        /// Returns the stream of a subscription field.
        ///
        /// # Errors
        ///
        /// If the resolver returned an error.
        fn stream(
            &self,
            value: Result<S, E>,
            field: &Field,
            cx: &Execution<'_, C>,
        ) -> Result<S, NullPropagation>;
    }

    impl<C, S: Stream + Send, E: IntoFieldError + Send> FallibleStream<C, S, E> for &&Tag<Result<S, E>, C> {
        fn stream(
            &self,
            value: Result<S, E>,
            field: &Field,
            cx: &Execution<'_, C>,
        ) -> Result<S, NullPropagation> {
            value.map_err(|error| cx.record_failure(field, ListIndices::ROOT, error))
        }
    }

    /// Dispatch for a subscription resolver that returns a stream.
    pub trait PlainStream<C, S: Stream> {
        /// Returns the tag of the events.
        fn event(&self) -> Tag<S::Item, C> {
            Tag::NEW
        }

        /// Returns the tag of the events, for the anchor.
        fn anchored(&self) -> Tag<S::Item, C> {
            Tag::NEW
        }

        /// Returns the stream of a subscription field.
        ///
        /// # Errors
        ///
        /// Never fails.
        fn stream(&self, value: S, field: &Field, cx: &Execution<'_, C>) -> Result<S, NullPropagation>;
    }

    impl<C, S: Stream + Send> PlainStream<C, S> for &Tag<S, C> {
        fn stream(&self, value: S, _: &Field, _: &Execution<'_, C>) -> Result<S, NullPropagation> {
            Ok(value)
        }
    }

    /// Dispatch for a subscription resolver that returns no stream. The bound of
    /// [`event`](Self::event) makes the compiler report the cause once per field.
    pub trait NoStream<C, S> {
        /// A call does not compile, because `S` is not [`Streamed`].
        fn event(&self) -> Tag<bool, C>
        where
            S: Streamed,
        {
            Tag::NEW
        }

        /// Placeholder that is never called.
        fn anchored(&self) -> Tag<bool, C> {
            Tag::NEW
        }

        /// Placeholder that is never called.
        ///
        /// # Errors
        ///
        /// Never fails.
        fn stream(&self, _: S, _: &Field, _: &Execution<'_, C>) -> Result<Empty<bool>, NullPropagation> {
            Ok(empty())
        }
    }

    impl<C, S> NoStream<C, S> for Tag<S, C> {}
}
