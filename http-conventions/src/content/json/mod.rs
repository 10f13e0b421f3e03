//! JSON content of requests, read into types of the host.

mod collect;
mod document;
mod fault;
mod key;
mod members;
mod node;
mod path;
mod reader;
mod search;
mod stand_in;
mod stop;
mod variant;

pub(crate) use self::{
    collect::MOST_FAULTS,
    document::{Document, MAX_DEPTH},
    path::{Path, is_within},
};
pub use self::{
    document::MalformedJson,
    fault::{Fault, Faults},
    reader::{InvalidContent, JsonReader},
};
