//! Runs plans: what the attributes of this crate generate code against.
//!
//! A document is compiled once to a [`plan`](Plan), which owns everything it needs; [`Object`] and [`Output`] are implemented
//! for the host's types by the attributes and write JSON straight into a buffer. Everything here is public for generated code
//! only and exempt from semantic versioning.
//!
//! - `table` what a type says about its fields · `plan` a compiled operation · `context` one execution of it
//! - `object`, `output`, `leaf` the values · `tag` how a resolver's return type is treated
//! - `write` JSON · `path` where a field is in the response
//! - `segment`, `pending` what is not ready yet · `gate` how many resolvers run at once · `guarded` guards in generated code

#![expect(
    clippy::too_many_arguments,
    reason = "what is handed down from value to value: bundled, it would be unpacked again at each of them"
)]

mod context;
mod gate;
mod guarded;
mod leaf;
mod object;
mod output;
mod path;
mod pending;
pub(crate) mod plan;
mod segment;
mod table;
mod tag;
pub(crate) mod write;

pub use crate::guard::demand::Guard;
pub use futures_util::future::BoxFuture;
pub use futures_util::stream::{BoxStream, Stream, StreamExt};

pub use self::context::Cx;
pub(crate) use self::context::Fault;
pub(crate) use self::gate::Gate;
pub use self::gate::Permit;
pub use self::guarded::{admitted_plain, allowed_plain, refused, refused_async, refused_stream};
pub use self::leaf::no_such_value;
pub use self::object::{
    Object, Opened, Source, no_such_field, no_such_future, no_such_stream, write_object, write_object_async,
};
pub(crate) use self::object::{checked, close};
pub use self::output::Output;
pub use self::path::{Path, Trail};
pub use self::pending::Pend;
pub use self::plan::{Field, Plan};
pub use self::segment::{Seg, SegResult};
pub use self::table::{Arguments, Coerce, FieldInfo, Registry, TypeInfo, argument};
pub use self::tag::{Returned, Tag, via};

/// A failure on its way to the next nullable value; what happened is noted in [`Cx`] already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bubble;

/// Whether a value was written.
pub type Flow = Result<(), Bubble>;
