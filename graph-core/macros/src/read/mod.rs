//! Parsing of the host's code: juniper's attributes, ours, methods and types.

pub(crate) mod block;
pub(crate) mod deprecated;
pub(crate) mod description;
pub(crate) mod field;
pub(crate) mod foreign;
pub(crate) mod graph;
pub(crate) mod item;
pub(crate) mod lifetimes;
pub(crate) mod name;
pub(crate) mod parameter;
pub(crate) mod rename;
pub(crate) mod rules;
pub(crate) mod scalar;
pub(crate) mod words;
