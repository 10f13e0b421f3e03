//! Executes plans; target of the code that the macros generate.
//!
//! A document is compiled once to a [`Plan`], which owns its data. The macros implement [`Object`]
//! and [`Output`] for the host's types; both write JSON directly into a buffer.
//!
//! The items are public for generated code only and are exempt from semantic versioning.
//!
//! - `table`: description, guards and fields of a type · `handle`: reference to a type · `declare`:
//!   juniper's registry
//! - `anchor`: order of instantiation by the compiler
//! - `plan`: a compiled operation · `context`: one execution · `decisions`: arguments and refusals
//! - `object`, `output`, `leaf`: values · `tag`: dispatch on a resolver's return type · `result`:
//!   results of resolvers
//! - `deferred`: parts of the response that follow the first one
//! - `messages`: messages of the compiler
//! - `write`: JSON · `path`: position in the response
//! - `segment`, `pending`: values that are not ready · `gate`: concurrency limit · `guarded`:
//!   refusals by guard functions

#![expect(
    clippy::too_many_arguments,
    reason = "these are passed from value to value; a struct would be unpacked at each of them"
)]

mod anchor;
mod contain;
mod context;
pub(crate) mod decisions;
mod declare;
pub(crate) mod deferred;
mod gate;
mod guarded;
mod handle;
mod leaf;
pub mod messages;
mod meter;
mod object;
mod output;
mod path;
mod pending;
pub(crate) mod plan;
mod result;
mod segment;
mod table;
mod tag;
pub(crate) mod write;

pub use crate::guard::demand::Guard;
pub use crate::validate::{Kind, Probe, Validation};
pub use futures_util::future::BoxFuture;
pub use futures_util::stream::{BoxStream, Stream, StreamExt};

pub use self::anchor::{Anchor, Nothing, name_anchor, name_declaration, name_fields};
pub(crate) use self::contain::{Payload, contained};
pub use self::context::Execution;
pub(crate) use self::context::FieldFailure;
pub use self::declare::{declare_interface, declare_object, declare_union};
pub(crate) use self::gate::Gate;
pub use self::gate::Permit;
pub use self::guarded::{record_refusal, write_refusal, write_refusal_async};
pub use self::handle::TypeHandle;
pub use self::leaf::no_such_value;
pub(crate) use self::meter::Meter;
pub use self::object::{
    Abstract, Object, Opened, Source, no_such_field, no_such_future, no_such_stream, write_object,
    write_object_async,
};
pub(crate) use self::object::{checked, close, write_field};
pub use self::output::Output;
pub use self::path::{ListIndices, Path};
pub use self::pending::PendingFields;
pub use self::plan::{Field, Plan};
pub use self::segment::{Segment, SegmentResult};
pub use self::table::{
    Arguments, Coerce, DeclareArguments, FieldInfo, Registry, TypeInfo, argument, declare_argument,
    declare_argument_with_default,
};
pub use self::tag::{Declared, Returned, Tag, via};

/// Failure that propagates to the nearest nullable value; the error is already recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NullPropagation;

/// Result of writing a value.
pub type WriteResult = Result<(), NullPropagation>;
